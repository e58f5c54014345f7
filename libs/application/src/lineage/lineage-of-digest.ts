import type { HeldBy } from '@palimpsest/audit';
import type { Caller } from '../caller/caller';
import type { System } from '../system/system';
import { saidIn, searchForPlaces } from './digest-search';
import { type LineageCursor, nextOfDigest } from './lineage-cursor';

/** Conversations whose rows are read together. */
const TOGETHER = 50;

type From = Extract<LineageCursor, { list: 'digest' }> | undefined;

/**
 * The answers whose requests held a text of this SHA-256, in all the tenant's conversations, newest first. A page ends when it is full, or when
 * so many events were looked at. Text that was said in two conversations of which one grows from the other may bring an answer twice.
 */
export async function heldByDigest(
  { tree, log, lineage, limits }: System,
  { tenantId }: Caller,
  digest: string,
  limit: number,
  from: From,
): Promise<{ readonly items: readonly HeldBy[]; readonly next: string | null }> {
  const items: HeldBy[] = [];
  let looked = 0;
  let before = from && (from.after ? from.startedPosition + 1n : from.startedPosition);
  for (;;) {
    const rows = await tree.conversations(tenantId, TOGETHER, before);
    for (const { conversation_id: id, started_position: started } of rows) {
      const { places, looked: here } = await saidIn(log, id, digest);
      looked += here;
      if (places.size > 0) {
        const after = started === from?.startedPosition ? from.after : undefined;
        const page = { limit: limit - items.length, after, maxRequests: limits.maxLineageRequests };
        const found = await lineage.forwards.heldBy(searchForPlaces(id, places), page);
        items.push(...found.items);
        if (found.next) return { items, next: nextOfDigest(started, found.next) };
      }
      if (items.length === limit || looked >= limits.maxLineageRequests) return { items, next: nextOfDigest(started) };
    }
    if (rows.length < TOGETHER) return { items, next: null };
    before = rows.at(-1)?.started_position;
  }
}
