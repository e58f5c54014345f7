import type { AttachDependent, DeleteConversation } from '../commands';
import { alreadySo, type Decision, refuse } from '../refusal';
import { type ActiveConversation, type ConversationState, isSource } from '../state';
import { openCallsOnPath } from '../path';
import { Draft } from './draft';
import { beforeClear, busy, remembered } from './guards';
import { close } from './synthetic';

/**
 * Recorded in the source first, so that whoever deletes it knows of the other, which may never have come to be. Calls that are still open on
 * the way to the node are closed with it: the other's requests hold that way, and from now on nothing of it changes.
 */
export function attachDependent(state: ActiveConversation, command: AttachDependent): Decision {
  const { conversationId, nodeId, key } = command;
  const known = remembered(state, key);
  if (known) return known;
  if (state.dependents.includes(conversationId)) return alreadySo;
  const node = isSource(state, nodeId) ? state.source : state.nodes.get(nodeId);
  // What was the head has ended, and so has all that leads to it.
  if (typeof node?.headAt !== 'number') return refuse({ code: 'not_found', what: 'node' });
  const cleared = beforeClear(state, 'requestedAt' in node ? node.requestedAt : 0);
  if (cleared) return cleared;
  const draft = new Draft(state);
  for (const toolCallId of openCallsOnPath(state, nodeId)) close(draft, toolCallId, 'interrupted');
  draft.put({ type: 'DependentAttached', data: { conversationId }, content: null, ...(key && { key }) });
  return draft.done();
}

/** The end of the stream, and of the key: one append. What grows from the conversation keeps ranges of its requests, so it goes first. */
export function deleteConversation(state: ConversationState, command: DeleteConversation): Decision {
  if (state.status === 'deleted') return alreadySo;
  if (state.status === 'active') {
    // What is half imported has no turn that anybody carries.
    const occupied = state.importing ? undefined : busy(state);
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
