import type { EventFilter, EventStore, Position } from '@palimpsest/event-store';

/** More are not counted, so that a scrape in the midst of a rebuild stays cheap. */
export const COUNTED = 1_000;

export interface Lag {
  /** At most `COUNTED`. */
  readonly events: number;
  /** How old the oldest of them is. */
  readonly seconds: number;
}

/** Counted and not subtracted: positions have gaps in one store, and a filter lets only some events through in both. */
export async function lagBehind(store: EventStore, position: Position, filter: EventFilter): Promise<Lag> {
  if (position >= (await store.lastPosition())) return { events: 0, seconds: 0 };
  let events = 0;
  let seconds = 0;
  for await (const { createdAt } of store.readAll({ after: position, filter, limit: COUNTED })) {
    if (events === 0) seconds = Math.max(0, Date.now() - createdAt.getTime()) / 1000;
    events += 1;
  }
  return { events, seconds };
}
