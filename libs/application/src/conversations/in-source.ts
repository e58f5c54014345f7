import type { ConversationIdentity } from '@palimpsest/turns';
import { refused } from '../refusal';
import type { System } from '../system/system';

/** Of what is not in this conversation: whether it is in one from which this one grows. There it can be had, and not from here. */
export async function inSource(
  { identities, writer }: System,
  { conversationId, tenantId }: ConversationIdentity,
  what: 'turn' | 'node',
  id: string,
): Promise<ReturnType<typeof refused>> {
  for (const source of await identities.sourcesOf(conversationId)) {
    const { state } = await writer.read(source.conversationId, tenantId);
    const isThere = state.status === 'active' && state[`${what}s`].has(id);
    if (!isThere) continue;
    const detail = `The ${what} belongs to the conversation that this one grows from, and is as it is here. Go there for it.`;
    return refused('in_source', detail, { conversationId: source.conversationId });
  }
  return refused('not_found', `There is no such ${what} in this conversation.`);
}
