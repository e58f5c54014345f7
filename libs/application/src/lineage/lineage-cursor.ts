import type { After } from '@palimpsest/audit';

/** Which list goes on, and where; undefined: both begin. */
export type LineageCursor =
  { readonly list: 'heldBy'; readonly after: After } | { readonly list: 'restsOn'; readonly from: number };

export const nextHeldBy = ({ startedPosition, revision }: After): string => `h.${startedPosition}.${revision}`;

/** What a request held never changes, so a number is a place in the list. */
export const nextRestsOn = (from: number): string => `r.${from}`;

/** Undefined: no list gave this. */
export function readCursor(cursor: string): LineageCursor | undefined {
  const [, started, revision] = /^h\.(\d{1,18})\.(\d{1,18})$/.exec(cursor) ?? [];
  if (started !== undefined && revision !== undefined)
    return { list: 'heldBy', after: { startedPosition: BigInt(started), revision: BigInt(revision) } };
  const [, from] = /^r\.(\d{1,9})$/.exec(cursor) ?? [];
  return from === undefined ? undefined : { list: 'restsOn', from: Number(from) };
}
