/** Named limits of the store, with the measurement or the reason that chose each. */
export interface PostgresEventStoreLimits {
  /** Milliseconds after which an append that got no answer rejects with `OutcomeUnknown`. Until then it is tried again. */
  readonly appendTimeoutMs: number;
  /** Milliseconds that one try waits for the database: a frozen server says nothing and closes nothing. */
  readonly tryTimeoutMs: number;
  /** Milliseconds that a batch waits in the database for the lock of another process. */
  readonly lockTimeoutMs: number;
  /** Appends that are committed together. */
  readonly maxBatchAppends: number;
  /** Bytes that are committed together, unless one append has more. */
  readonly maxBatchBytes: number;
  /** Events of one page of a read. */
  readonly pageEvents: number;
  /** Bytes of one page, unless one event has more: 500 events near 1 MiB would not fit in memory. */
  readonly pageBytes: number;
  /** Milliseconds that one page waits for the database. */
  readonly readTimeoutMs: number;
  /** Milliseconds between looks at the log where no notification came: the safety net. */
  readonly pollMs: number;
}

export const defaultLimits: PostgresEventStoreLimits = {
  appendTimeoutMs: 15_000,
  tryTimeoutMs: 5_000,
  lockTimeoutMs: 4_000,
  maxBatchAppends: 256,
  maxBatchBytes: 4 * 1_048_576,
  pageEvents: 500,
  pageBytes: 4 * 1_048_576,
  readTimeoutMs: 30_000,
  pollMs: 2_000,
};
