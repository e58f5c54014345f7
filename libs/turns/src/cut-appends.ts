import type { ConversationLog, ConversationRecord } from '@palimpsest/read-models';

/** Events that are looked at together. */
const AT_ONCE = 16n;

/**
 * What stands in front of an event in its own append. A read model may know a part of an append: the question and the folds of a request, and not
 * the request, so that no row of it leads to them. All events of an append were decided at one instant; that of another one at the same instant
 * comes along, which does no harm.
 */
export async function beginningOf(
  log: Pick<ConversationLog, 'at'>,
  conversationId: string,
  event: ConversationRecord,
): Promise<readonly ConversationRecord[]> {
  let found: readonly ConversationRecord[] = [];
  for (let { revision } = event; revision > 0n;) {
    const from = revision > AT_ONCE ? revision - AT_ONCE : 0n;
    const before = await log.at(conversationId, Array.from({ length: Number(revision - from) }, (_, at) => from + BigInt(at))); // prettier-ignore
    const other = before.findLastIndex(({ meta }) => meta.occurredAt !== event.meta.occurredAt);
    found = [...before.slice(other + 1), ...found];
    if (other >= 0) return found;
    revision = from;
  }
  return found;
}
