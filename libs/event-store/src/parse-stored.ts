import { type EventPlace, EventUnreadable } from './errors';
import type { JsonObject } from './port';

/** A stored object, parsed. Throws `EventUnreadable`, with the place of the event that it belongs to, where `text` gives none. */
export function parseStored(text: () => string, place: () => EventPlace): JsonObject {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text());
  } catch (cause) {
    throw new EventUnreadable(place(), { cause });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new EventUnreadable(place());
  return parsed as JsonObject;
}
