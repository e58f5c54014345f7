import type { ConversationRow, NodeRow, TreeReader } from '@palimpsest/read-models';

/**
 * The nodes that a conversation sees: those before the one that it grows from, root first, then all of its own. Clears of another conversation
 * begin no epoch of this one: what it grows from is in its first.
 */
export async function nodesSeenFrom(tree: TreeReader, conversation: ConversationRow): Promise<readonly NodeRow[]> {
  const { conversation_id, source_node_id } = conversation;
  const [before, own] = await Promise.all([
    source_node_id === null ? [] : tree.lineage(source_node_id),
    tree.nodes(conversation_id),
  ]);
  return [...before.map((node) => ({ ...node, epoch: 0 })), ...own];
}
