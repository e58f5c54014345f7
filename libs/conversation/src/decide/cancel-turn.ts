import type { CancelTurn } from '../commands';
import { alreadySo, type Decision, refuse } from '../refusal';
import type { ActiveConversation } from '../state';
import { Draft } from './draft';
import { end } from './end';
import { remembered } from './guards';

export function cancelTurn(state: ActiveConversation, { turnId, arrived, key }: CancelTurn): Decision {
  const known = remembered(state, key);
  if (known) return known;
  const turn = state.turns.get(turnId);
  if (!turn) return refuse({ code: 'not_found', what: 'turn' });
  const draft = new Draft(state);
  if (turn.status === 'queued')
    draft.put({ type: 'TurnCancelled', data: { turnId }, content: null, ...(key && { key }) });
  else if (state.running?.turnId === turnId) end(draft, state.running, { status: 'cancelled', arrived, key });
  else return alreadySo;
  return draft.done();
}
