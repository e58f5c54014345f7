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

/** Where an event stands, as far as the store can tell. */
export interface EventPlace {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly id: string;
  readonly type: string;
}

/** What is stored at this place is no event that anybody appended: its bytes are no JSON object any more. Trying again does not mend it. */
export class EventUnreadable extends Error {
  override readonly name = 'EventUnreadable';
  constructor(
    readonly place: EventPlace,
    options?: ErrorOptions,
  ) {
    super(
      `${place.stream} holds at revision ${place.revision} (position ${place.position}) bytes that are no event. Run palimpsest verify.`,
      options,
    );
  }
}
