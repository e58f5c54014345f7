import type { FailTurn, GoOn, TakeOverTurn } from '../commands';
import { type Decision, refuse } from '../refusal';
import { type ActiveConversation, carrierOf, nodeOf } from '../state';
import { advance } from './advance';
import { Draft } from './draft';
import { end } from './end';

export function goOn(state: ActiveConversation, { carrier, bounds }: GoOn): Decision {
  if (carrierOf(state.running) !== carrier) return refuse({ code: 'not_carrier' });
  const draft = new Draft(state);
  advance(draft, carrier, bounds);
  return draft.done();
}

/** The lease is asked here and nowhere else, and no safety rests on it. */
export function takeOverTurn(state: ActiveConversation, command: TakeOverTurn): Decision {
  const { carrier, lapsed, maxTakeovers, bounds } = command;
  const turn = state.running;
  if (!turn || turn.phase === 'waiting') return refuse({ code: 'not_running' });
  if (turn.phase === 'carried' && turn.carrier !== lapsed) return refuse({ code: 'carried' });
  const draft = new Draft(state);
  if (turn.phase === 'carried' && turn.takeovers >= maxTakeovers) {
    const detail = `The turn was taken over ${turn.takeovers} times without an answer or a result, and is given up.`;
    end(draft, turn, { status: 'failed', reason: 'interrupted', detail });
    return draft.done();
  }
  draft.put({ type: 'TurnTakenOver', data: { turnId: turn.turnId, carrier }, content: null });
  if (turn.node !== null && nodeOf(state, turn.node).status === 'pending') {
    const content = { detail: 'The process that made this attempt no longer carries the turn.' };
    draft.put({ type: 'CallAttemptFailed', data: { nodeId: turn.node, reason: 'interrupted' }, content });
  }
  draft.factsEnd();
  advance(draft, carrier, bounds);
  return draft.done();
}

export function failTurn(state: ActiveConversation, { carrier, reason, detail }: FailTurn): Decision {
  const { running } = state;
  if (!running || carrierOf(running) !== carrier) return refuse({ code: 'not_carrier' });
  const draft = new Draft(state);
  end(draft, running, { status: 'failed', reason, detail });
  return draft.done();
}
