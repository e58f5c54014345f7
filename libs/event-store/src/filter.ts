import type { EventFilter } from './port';

/** The filter as a predicate. No filter, or a list left out, lets everything through; an empty list lets nothing through. */
export function filterOf(filter: EventFilter = {}): (event: { stream: string; type: string }) => boolean {
  const { streamPrefixes, types } = filter;
  return ({ stream, type }) =>
    (!streamPrefixes || streamPrefixes.some((prefix) => stream.startsWith(prefix))) && (!types || types.includes(type));
}
