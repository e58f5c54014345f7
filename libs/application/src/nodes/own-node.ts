import type { NodeRow } from '@palimpsest/read-models';
import type { Caller } from '../caller/caller';
import type { AtLeast } from '../conversations/conversation.queries';
import { type Answer, refused } from '../refusal';
import { ownConversation, upTo } from '../system/guard';
import type { System } from '../system/system';
import { whenKnown } from '../system/when-known';

const noSuchNode = refused('not_found', 'There is no such node.');

/** A node of the caller's own, another tenant's being as absent as none; one that the tree does not know yet is waited for until it has reached the log's end as of now. */
export async function ownNode<T>(
  system: System,
  caller: Caller,
  nodeId: string,
  { minRevision }: AtLeast,
  work: (node: NodeRow) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const { tree, store, projector, limits } = system;
  const known = await whenKnown(
    async () => tree.node(nodeId),
    async () => store.lastPosition(),
    projector,
    limits.maxWaitMs,
  );
  if (known === 'absent') return noSuchNode;
  if (known === 'late')
    return refused('behind', 'The read model is behind the log, and may not know the node yet. Ask again in a moment.');
  const { conversation_id } = known.found;
  const conversation = await system.identities.find(conversation_id);
  if (conversation?.tenantId !== caller.tenantId) return noSuchNode;
  return ownConversation(system, caller, conversation_id, () =>
    upTo(system, conversation_id, minRevision, async () => {
      const node = minRevision === undefined ? known.found : await tree.node(nodeId);
      return node ? work(node) : noSuchNode;
    }),
  );
}
