/**
 * The event store port. Two adapters stand behind it, the Postgres log and EventStoreDB, and an in-memory one for unit tests;
 * `contract/` holds what each of them must do.
 */

/** JSON that survives parsing: no number outside the safe integers, no key order that matters. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** Place of an event in its stream, from 0, without gaps. */
export type Revision = bigint;
/** Place of an event in the whole log. Grows with commit order; may have gaps. */
export type Position = bigint;

/** What the stream must look like for an append to be stored. `'no_stream'`: it has no events. A revision: its last event has it. */
export type ExpectedRevision = 'no_stream' | Revision;

export interface NewEvent {
  /** A random uuid (v7), lower case, made once per append and kept by its own retry loop. */
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}

export interface StoredEvent extends NewEvent {
  readonly stream: string;
  readonly revision: Revision;
  readonly position: Position;
  /** When the store wrote it. For operators only: order comes from revision and position. */
  readonly createdAt: Date;
}

export type AppendOutcome =
  /** Stored, now or by an earlier try of the very same append. Revision and position of its last event. */
  | { readonly outcome: 'stored'; readonly revision: Revision; readonly position: Position }
  /** Not stored, and never will be. `actual` is where the stream stands. */
  | { readonly outcome: 'conflict'; readonly expected: ExpectedRevision; readonly actual: ExpectedRevision };

export interface EventFilter {
  /** Only streams whose name begins with one of these. */
  readonly streamPrefixes?: readonly string[];
  /** Only these event types. */
  readonly types?: readonly string[];
}

export interface ReadStreamOptions {
  /** First revision to read, inclusive. Default: the start (forwards) or the end (backwards). */
  readonly from?: Revision;
  readonly direction?: 'forwards' | 'backwards';
  /** At most so many events. Default: all. */
  readonly limit?: number;
}

export interface ReadAllOptions {
  /** Events after this position (forwards) or before it (backwards), exclusive. Default: the start, or the end. */
  readonly after?: Position;
  readonly direction?: 'forwards' | 'backwards';
  readonly filter?: EventFilter;
  readonly limit?: number;
}

export interface SubscribeOptions {
  /** Deliver events after this position. Default: from the start. */
  readonly after?: Position;
  readonly filter?: EventFilter;
  /** Ends the subscription; its iteration then returns without an error. */
  readonly signal?: AbortSignal;
}

/** What a subscription hands over: a batch that is never split within one append, in log order. */
export interface SubscriptionBatch {
  readonly events: readonly StoredEvent[];
  /** All that the filter lets through up to here, this batch included, has been handed over: the checkpoint to resume from. */
  readonly position: Position;
  /** True when this batch reached the end of the log as of its read. */
  readonly caughtUp: boolean;
}

export interface EventStore {
  /**
   * Appends all of `events` or none, at the expected revision. The same call again (ids, bytes, revision) is a no-op that gives the first
   * answer. Rejects with `OutcomeUnknown` when the store gave no answer: call again with the same arguments; with `AppendTooLarge` or
   * `InvalidEvent` before anything was sent. An empty list is an `InvalidEvent`.
   */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendOutcome>;
  /** Reads a stream. A stream that does not exist has no events. */
  readStream(stream: string, options?: ReadStreamOptions): AsyncIterable<StoredEvent>;
  readAll(options?: ReadAllOptions): AsyncIterable<StoredEvent>;
  /**
   * Follows the log: what is there, then what comes. Each event once, each stream in order. Reconnects by itself with backoff; an
   * iteration that throws met something that trying again does not mend: `EventUnreadable` comes when all before that event was handed
   * over, and `followLog` goes past it. An empty batch may be handed over to move the checkpoint.
   */
  subscribe(options?: SubscribeOptions): AsyncIterable<SubscriptionBatch>;
  /** Position of the last event in the log, or -1n where there is none. */
  lastPosition(): Promise<Position>;
  /** Stops subscriptions and waits for what is in flight. */
  close(): Promise<void>;
}
