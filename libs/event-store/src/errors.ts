/** The store gave no answer: the append may be stored, now or later. The same append again settles it. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** The store cannot be reached for reading. Try again later. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** An append larger than the store takes. Nothing was sent. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
  constructor(
    readonly bytes: number,
    readonly limit: number,
  ) {
    super(
      `The append holds ${bytes} bytes of data; the store takes at most ${limit}. Write large content as a payload first.`,
    );
  }
}

/** An event that no store can keep: a bad id, an empty type or stream name, a number outside the safe integers. Nothing was sent. */
export class InvalidEvent extends Error {
  override readonly name = 'InvalidEvent';
}
