import type { StartConversation } from '../commands';
import { alreadySo, type Decision, refuse } from '../refusal';
import type { ConversationState } from '../state';
import { remembered } from './guards';

/** The stream's id is derived from the key, so whoever finds it started finds the key too. */
export function startConversation(state: ConversationState, command: StartConversation): Decision {
  if (state.status === 'deleted') return refuse({ code: 'deleted' });
  if (state.status === 'active') return remembered(state, command.key) ?? alreadySo;
  const { assistantId, assistantVersion, subjectId, zone, whenBusy, source, key } = command;
  const data = { assistantId, assistantVersion, subjectId, zone, whenBusy, ...(source && { source }) };
  return {
    ok: true,
    events: [{ type: 'ConversationStarted', data, content: null, ...(key && { key }) }],
    facts: 1,
  };
}
