import type { System } from '../system/system';
import type { ConversationView } from '../views';

/** A conversation as it was when it was started: equal keys get equal answers. */
export async function startedView({ log }: System, conversationId: string): Promise<ConversationView> {
  const [started] = await log.at(conversationId, [0n]);
  if (started?.type !== 'ConversationStarted')
    throw new Error(`Conversation ${conversationId} does not begin with its start.`);
  const { revision, position, meta, data } = started;
  const { assistantId, assistantVersion: version, zone, source } = data;
  return {
    ...{ conversationId, assistantId, version, zone },
    ...(source ? { source: { conversationId: source.conversationId, nodeId: source.nodeId } } : {}),
    ...{ head: source?.nodeId ?? null, revision, position, startedAt: meta.occurredAt },
  };
}
