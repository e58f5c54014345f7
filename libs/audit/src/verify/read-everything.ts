import {
  type EventFilter,
  type EventPlace,
  type EventStore,
  EventUnreadable,
  type StoredEvent,
} from '@palimpsest/event-store';

/** What stands at a place of the log: an event, or bytes that are none any more. */
export interface StoredThing {
  readonly place: EventPlace;
  readonly event: StoredEvent | null;
}

/** The log after a position, forwards, past what can't be read. */
export function readAllThings(store: EventStore, after: bigint, filter?: EventFilter): AsyncGenerator<StoredThing> {
  return readThings(
    (from, limit) => store.readAll({ after: from, ...(filter && { filter }), ...limit }),
    (place) => place.position,
    after,
  );
}

/** A stream from a revision on, forwards, past what can't be read. */
export function readStreamThings(store: EventStore, stream: string, from = 0n): AsyncGenerator<StoredThing> {
  return readThings(
    (start, limit) => store.readStream(stream, { from: start, ...limit }),
    (place) => place.revision + 1n,
    from,
  );
}

/** What stands at one revision of a stream. */
export async function thingAt(store: EventStore, stream: string, revision: bigint): Promise<StoredThing | undefined> {
  const thing = await first(() => store.readStream(stream, { from: revision, limit: 1 }));
  return thing?.place.revision === revision ? thing : undefined;
}

/** The last thing of a stream. */
export const lastThing = (store: EventStore, stream: string): Promise<StoredThing | undefined> =>
  first(() => store.readStream(stream, { direction: 'backwards', limit: 1 }));

type Read = (from: bigint, limit: { readonly limit?: number }) => AsyncIterable<StoredEvent>;

async function* readThings(read: Read, next: (place: EventPlace) => bigint, from: bigint): AsyncGenerator<StoredThing> {
  for (let reached = from, broken = true; broken;) {
    broken = false;
    try {
      for await (const event of read(reached, {})) {
        yield { place: event, event };
        reached = next(event);
      }
    } catch (error) {
      if (!(error instanceof EventUnreadable)) throw error;
      broken = true;
    }
    // A store reads in pages, so good events may stand before the bad one: one by one up to it, then on in pages.
    while (broken) {
      const start = reached;
      const thing = await first(() => read(start, { limit: 1 }));
      if (!thing) return;
      yield thing;
      reached = next(thing.place);
      if (!thing.event) break;
    }
  }
}

async function first(read: () => AsyncIterable<StoredEvent>): Promise<StoredThing | undefined> {
  try {
    for await (const event of read()) return { place: event, event };
    return undefined;
  } catch (error) {
    if (error instanceof EventUnreadable) return { place: error.place, event: null };
    throw error;
  }
}
