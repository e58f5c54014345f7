import type { ConversationSource } from '@palimpsest/conversation';
import { conversationKeyId, type KeyRing } from '@palimpsest/event-store';
import { Statements } from '@palimpsest/turns';

/** How statements are made here. `sourcesOf`: the conversations from which one grows, the nearest first. */
export function statementsOf(
  keys: KeyRing,
  sourcesOf: (conversationId: string) => Promise<readonly ConversationSource[]>,
): Statements {
  return new Statements(async (conversationId, text) => {
    const bottom = (await sourcesOf(conversationId)).at(-1)?.conversationId ?? conversationId;
    return (await keys.open(conversationKeyId(bottom))).digest('state', text);
  });
}
