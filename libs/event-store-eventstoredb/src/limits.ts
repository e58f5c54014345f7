/** Named limits of the store, with the measurement or the reason that chose each. */
export interface EventStoreDbLimits {
  /** Milliseconds after which an append that got no answer rejects with `OutcomeUnknown`. Until then it is tried again. */
  readonly appendTimeoutMs: number;
  /** Milliseconds that one try waits for the server: a frozen one says nothing, and its keep-alive took 19 s to notice. */
  readonly tryTimeoutMs: number;
  /** Bytes of data and metadata of one append: a message beyond 16.5 MB breaks every append that is under way. */
  readonly maxMessageBytes: number;
  /** Events of a subscription's batch, before it is stretched to the end of its last append. */
  readonly batchEvents: number;
  /** Characters of a batch, about, unless one event has more. */
  readonly batchChars: number;
  /** Milliseconds of silence after which a subscription looks at the log itself, at first and at most. */
  readonly firstLookMs: number;
  readonly lookMs: number;
}

export const defaultLimits: EventStoreDbLimits = {
  appendTimeoutMs: 15_000,
  tryTimeoutMs: 5_000,
  maxMessageBytes: 16 * 1_048_576,
  batchEvents: 256,
  batchChars: 4 * 1_048_576,
  firstLookMs: 250,
  lookMs: 2_000,
};
