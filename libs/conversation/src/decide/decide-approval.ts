import type { Bounds, DecideApproval, ExpireApproval } from '../commands';
import type { Carrier, DraftEvent, ToolCallId } from '../events';
import { type Decision, refuse } from '../refusal';
import type { ActiveConversation, ToolCallRecord } from '../state';
import { advance } from './advance';
import { Draft } from './draft';
import { remembered } from './guards';
import { close } from './synthetic';

export function decideApproval(state: ActiveConversation, command: DecideApproval): Decision {
  const { toolCallId, decision, argumentsDigest, key } = command;
  const known = remembered(state, key);
  if (known) return known;
  const call = state.toolCalls.get(toolCallId);
  if (!call) return refuse({ code: 'not_found', what: 'tool_call' });
  if (call.status !== 'awaiting') return alreadyDecided(call);
  if (call.argumentsDigest !== argumentsDigest)
    return refuse({ code: 'approval_mismatch', argumentsDigest: call.argumentsDigest });
  const data = { toolCallId, decision, argumentsDigest };
  return settle(state, { type: 'ToolApprovalDecided', data, content: null, ...(key && { key }) }, command);
}

export function expireApproval(state: ActiveConversation, command: ExpireApproval): Decision {
  const { toolCallId } = command;
  const call = state.toolCalls.get(toolCallId);
  if (!call) return refuse({ code: 'not_found', what: 'tool_call' });
  if (call.status !== 'awaiting') return alreadyDecided(call);
  const data = { toolCallId, decision: 'expired' } as const;
  return settle(state, { type: 'ToolApprovalDecided', data, content: null }, command);
}

const alreadyDecided = ({ decision }: ToolCallRecord): Decision =>
  refuse({ code: 'already_decided', ...(decision && { decision }) });

type Decided = Extract<DraftEvent, { type: 'ToolApprovalDecided' }>;
interface Settler {
  readonly toolCallId: ToolCallId;
  readonly carrier: Carrier;
  readonly bounds: Bounds;
}

/** A decision against the call and its synthetic result are never cut. */
function settle(state: ActiveConversation, decided: Decided, { toolCallId, carrier, bounds }: Settler): Decision {
  const draft = new Draft(state);
  draft.put(decided);
  const { decision } = decided.data;
  if (decision !== 'approve') close(draft, toolCallId, decision === 'expired' ? 'expired' : 'rejected');
  draft.factsEnd();
  // A carrier goes on by itself, and a turn that awaits another decision waits on.
  if (draft.state.running?.phase !== 'uncarried') return draft.done();
  draft.put({ type: 'TurnTakenOver', data: { turnId: draft.state.running.turnId, carrier }, content: null });
  advance(draft, carrier, bounds);
  return draft.done();
}
