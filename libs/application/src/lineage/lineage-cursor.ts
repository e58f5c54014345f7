import type { After } from '@palimpsest/audit';

/** Which list goes on, and where. */
export type LineageCursor =
  | { readonly list: 'heldBy'; readonly after: After }
  | { readonly list: 'restsOn'; readonly from: number }
  /** In the conversation that began there behind a node of the list; else in those that began before it. */
  | { readonly list: 'digest'; readonly startedPosition: bigint; readonly after?: After };

const placeIn = ({ startedPosition, revision }: After): string => `${startedPosition}.${revision}`;

export const nextHeldBy = (after: After): string => `h.${placeIn(after)}`;

/** What a request held never changes, so a number is a place in the list. */
export const nextRestsOn = (from: number): string => `r.${from}`;

export const nextOfDigest = (startedPosition: bigint, after?: After): string =>
  `d.${startedPosition}${after ? `.${placeIn(after)}` : ''}`;

/** Undefined: no list gave this. */
export function readCursor(cursor: string): LineageCursor | undefined {
  if (!/^[hrd](\.\d{1,18}){1,3}$/.test(cursor)) return undefined;
  const [list, ...decimals] = cursor.split('.');
  const [first = 0n, second, third] = decimals.map(BigInt);
  if (list === 'r') return decimals.length === 1 ? { list: 'restsOn', from: Number(first) } : undefined;
  if (list === 'h')
    return second !== undefined && third === undefined
      ? { list: 'heldBy', after: { startedPosition: first, revision: second } }
      : undefined;
  if (second === undefined) return { list: 'digest', startedPosition: first };
  if (third === undefined) return undefined;
  return { list: 'digest', startedPosition: first, after: { startedPosition: second, revision: third } };
}
