/** A read model, for an operator. */
export interface ProjectionView {
  readonly name: string;
  readonly version: number;
  /** Of the generation that queries read. */
  readonly position: bigint;
  readonly lag: {
    /** Events that it has not seen; 1000 stands for more, too. */
    readonly events: number;
    /** Age of the oldest of them. */
    readonly seconds: number;
  };
  /** Events per second, of late. */
  readonly rate: number;
  /** The process that writes, as host/pid; null where none does. */
  readonly writer: string | null;
  /** Processes that would take over. */
  readonly standby: readonly string[];
  readonly lastError: { readonly reason: string; readonly at: string } | null;
  /** Newest first. */
  readonly generations: readonly GenerationView[];
  /** Streams that the live generation left at an event which it could not take; those of the longest standing, at most 100. */
  readonly parked: readonly ParkedView[];
}

export interface GenerationView {
  readonly generation: number;
  readonly state: 'building' | 'live' | 'old';
  readonly position: bigint;
  readonly events: bigint;
  readonly rate: number;
  readonly beganAt: string;
  readonly liveSince: string | null;
  readonly parkedStreams: number;
  readonly lastError: { readonly reason: string; readonly at: string } | null;
  /** While it is built: how much of what the live one holds, from 0 to 1, and the seconds that are left at the rate of late. */
  readonly progress?: { readonly done: number; readonly secondsLeft: number | null };
}

export interface ParkedView {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly eventId: string;
  readonly type: string;
  /** What went wrong and where, without a word of what anybody said. */
  readonly reason: string;
  readonly attempts: number;
  readonly parkedAt: string;
  /** An operator has asked for it to be tried again. */
  readonly retrying: boolean;
}

export interface RebuildView {
  readonly name: string;
  readonly version: number;
  readonly generation: number;
}

export interface DroppedView {
  readonly name: string;
  readonly generation: number;
}

export interface RetriedView {
  readonly name: string;
  /** How many streams are tried again, in a moment. */
  readonly streams: number;
}
