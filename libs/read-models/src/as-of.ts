import { metaOf, type StoredEvent } from '@palimpsest/event-store';

/**
 * As of when a stream is told: through a revision of it, through a position of the log, or up to the first event that occurred after an
 * instant (milliseconds since 1970). Clocks of several processes may disagree, so an event behind that one is not told either, whatever its
 * own clock said: order comes from revisions alone.
 */
export type AsOf = { readonly revision: bigint } | { readonly position: bigint } | { readonly instant: number };

export function isAfter(event: StoredEvent, when: AsOf): boolean {
  if ('revision' in when) return event.revision > when.revision;
  if ('position' in when) return event.position > when.position;
  return Date.parse(metaOf(event).occurredAt) > when.instant;
}

/** Whether no later event can be told: so nothing is read, or found damaged, that stands behind. */
export const endsAt = (event: StoredEvent, when: AsOf): boolean =>
  ('revision' in when && event.revision >= when.revision) || ('position' in when && event.position >= when.position);
