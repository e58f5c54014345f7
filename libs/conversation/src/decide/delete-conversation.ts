import type { AttachDependent, DeleteConversation } from '../commands';
import { alreadySo, type Decision, refuse } from '../refusal';
import type { ActiveConversation, ConversationState } from '../state';
import { busy, remembered } from './guards';

/** Recorded in the source first, so that whoever deletes it knows of the other, which may never have come to be. */
export function attachDependent(state: ActiveConversation, { conversationId, key }: AttachDependent): Decision {
  const known = remembered(state, key);
  if (known) return known;
  if (state.dependents.includes(conversationId)) return alreadySo;
  const data = { conversationId };
  return { ok: true, events: [{ type: 'DependentAttached', data, content: null, ...(key && { key }) }], facts: 1 };
}

/** The end of the stream, and of the key: one append. What grows from the conversation keeps ranges of its requests, so it goes first. */
export function deleteConversation(state: ConversationState, command: DeleteConversation): Decision {
  if (state.status === 'deleted') return alreadySo;
  if (state.status === 'active') {
    const occupied = busy(state);
    if (occupied) return occupied;
    const conversationIds = state.dependents.filter((id) => !command.deletedDependents.includes(id));
    if (conversationIds.length > 0) return refuse({ code: 'has_dependents', conversationIds });
  }
  return {
    ok: true,
    events: [
      { type: 'ConversationDeleted', data: {}, content: null },
      { type: 'KeyDestroyed', data: { keyId: command.keyId }, content: null },
    ],
    facts: 2,
  };
}
