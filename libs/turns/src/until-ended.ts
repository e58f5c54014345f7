import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeId } from '@palimpsest/conversation';
import type { ConversationWriter } from './conversation-writer';
import type { ConversationIdentity } from './identity';

/** Milliseconds between two looks at a call that another process makes. */
const LOOK_EVERY_MS = 50;

/** Waits until a call that any process makes has ended, well or not, or until the deadline. */
export async function untilEnded(
  writer: Pick<ConversationWriter, 'read'>,
  { conversationId, tenantId }: ConversationIdentity,
  nodeId: NodeId,
  deadline: AbortSignal,
): Promise<void> {
  while (!deadline.aborted) {
    const { state } = await writer.read(conversationId, tenantId);
    if (state.status !== 'active' || state.nodes.get(nodeId)?.status !== 'pending') return;
    await sleep(LOOK_EVERY_MS, undefined, { ref: false });
  }
}
