/** Revisions, stream by stream. */
export function byConversation(
  places: Iterable<{ readonly conversationId: string; readonly revision: bigint }>,
): ReadonlyMap<string, readonly bigint[]> {
  const found = new Map<string, bigint[]>();
  for (const { conversationId, revision } of places) {
    const revisions = found.get(conversationId);
    if (revisions) revisions.push(revision);
    else found.set(conversationId, [revision]);
  }
  return found;
}
