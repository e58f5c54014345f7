import type { AppendContext } from '../log/metadata';
import type { OutcomeUnknown, StoreUnavailable } from '../errors';
import type { Backoff } from '../log/append-until-known';
import type { Appended, Draft, EventCodec } from '../log/event-codec';
import type { EventStore, ExpectedRevision, Position, Revision } from '../port';
import type { Decider } from './decider';
import type { Snapshots } from './snapshots';
import type { View } from './state-reader';

/** The client's command lost its race so often that the client is asked to look again. */
export interface RevisionConflict {
  readonly code: 'revision_conflict';
  readonly expected: ExpectedRevision;
  readonly actual: ExpectedRevision;
}

export type Handled<S, E extends Draft, R, K = unknown> =
  | {
      readonly ok: true;
      /** What this call stored; empty where it was so already. */
      readonly events: readonly Appended<E>[];
      readonly state: S;
      /** Of the stream's last event, -1n where it has none. */
      readonly revision: Revision;
      readonly position: Position;
      /** Only the decision's facts were stored: what follows from them is still to be decided and appended. `cause` says why. */
      readonly more?: { readonly cause: unknown };
      readonly known?: K;
    }
  | {
      readonly ok: false;
      readonly refusal: R | RevisionConflict;
      readonly state: S;
      readonly revision: Revision;
      readonly position: Position;
    };

/** Where drafts will stand. */
export interface DraftsPlace<S> {
  readonly stream: string;
  /** The state that decided, before any of the drafts. */
  readonly state: S;
  /** Of the stream's last event; the first draft gets the next one. */
  readonly revision: Revision;
  readonly context: AppendContext;
}

export interface HandlerOptions<S, C, D extends Draft, R, E extends Draft = D, K = unknown> {
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly decider: Decider<S, C, D, R, K>;
  readonly snapshots?: Snapshots<S>;
  /** Makes drafts ready to be stored: as many, in the same order. Where it throws, the decision's facts are stored without the rest. */
  readonly complete?: (drafts: readonly D[], place: DraftsPlace<S>) => Promise<readonly E[]>;
  readonly maxCachedEvents?: number;
  readonly retries?: Partial<Retries>;
  readonly onUnknown?: (error: OutcomeUnknown, attempt: number) => void;
  /** A read failed for something that must be stored; it is tried again. */
  readonly onUnavailable?: (error: StoreUnavailable, attempt: number) => void;
  readonly onConflict?: (stream: string, conflicts: number) => void;
  readonly onSnapshotFailed?: (stream: string, error: unknown) => void;
}

export interface Retries {
  /** Tries of a client's command until it is refused with `revision_conflict`. */
  readonly attempts: number;
  readonly conflict: Backoff;
  /** Between tries of one append whose outcome is unknown, and of reads that fail for an answer that must be stored. */
  readonly unknown: Backoff;
  /** Milliseconds that a client's command waits for its outcome. */
  readonly clientWaitMs: number;
}

export const RETRIES: Retries = {
  attempts: 3,
  conflict: { minMs: 2, maxMs: 200 },
  unknown: { minMs: 20, maxMs: 2_000 },
  clientWaitMs: 10_000,
};

export type Settled<S, E extends Draft, R, K = unknown> =
  { readonly result: Handled<S, E, R, K> } | { readonly error: unknown };

export interface HandleOptions<S, E extends Draft, R, K = unknown> {
  /** `attempts` (default): a client's command. `until-stored`: an answer or a tool result, which is stored or refused, however long it takes. */
  readonly persist?: 'attempts' | 'until-stored';
  /** Milliseconds that the caller waits. Default: `clientWaitMs` for a client's command, else without end. */
  readonly waitMs?: number;
  /** Ends the caller's wait, not the work. */
  readonly signal?: AbortSignal;
  /** Called once the outcome is known, where the caller was told `OutcomeUnknown` before: now do what the events name (PROTOCOL.md A4). */
  readonly onSettled?: (settled: Settled<S, E, R, K>) => void;
}

export interface Handler<S, C, E extends Draft, R, K = unknown> {
  /**
   * Decides and appends. Rejects with `OutcomeUnknown` where the caller's wait ends first (the work goes on, and nobody else appends to the
   * stream from here until it is done); with `StoreUnavailable` where nothing was done; with what broke, where something is broken.
   */
  handle(
    stream: string,
    command: C,
    context: AppendContext,
    options?: HandleOptions<S, E, R, K>,
  ): Promise<Handled<S, E, R, K>>;
  /** The state as memory holds it, without a read: what it says has happened has, but more may have. Undefined where it holds none. */
  known(stream: string): View<S> | undefined;
  /** The state as of the stream's end, read now. */
  read(stream: string, tenantId: string): Promise<View<S>>;
  /** Of a stream that is over: what memory holds of it, and its snapshot, also one that is being written. Idempotent. */
  forget(stream: string): Promise<void>;
  /** Resolves once no work is going on. */
  idle(): Promise<void>;
  /** Gives up appends whose outcome is unknown, and waits for the rest. */
  close(): Promise<void>;
}
