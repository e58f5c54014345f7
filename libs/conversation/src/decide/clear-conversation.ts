import type { ClearConversation } from '../commands';
import { alreadySo, type Decision } from '../refusal';
import type { ActiveConversation } from '../state';
import { busy, remembered } from './guards';

/** One event takes transcript and head together. Nodes stay for the audit, in an epoch to which nothing leads back. */
export function clearConversation(state: ActiveConversation, { key }: ClearConversation): Decision {
  const known = remembered(state, key);
  if (known) return known;
  const occupied = busy(state);
  if (occupied) return occupied;
  if (isClear(state)) return alreadySo;
  const data = { from: state.head, epoch: state.epoch + 1 };
  return { ok: true, events: [{ type: 'ConversationCleared', data, content: null, ...(key && { key }) }], facts: 1 };
}

/** Without a head there may be nodes all the same: those of a first turn whose request was too large. */
function isClear({ head, nodes, clearedAt }: ActiveConversation): boolean {
  if (head !== null) return false;
  for (const [, { requestedAt }] of nodes) if (requestedAt > clearedAt) return false;
  return true;
}
