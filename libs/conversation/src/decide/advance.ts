import type { Bounds } from '../commands';
import type { Carrier, ToolCallId } from '../events';
import { nodeOf, type RunningTurn, toolCallOf } from '../state';
import { invalidText } from '../synthetic-results';
import type { Draft } from './draft';
import { end } from './end';
import { close } from './synthetic';

/** Content that is at hand now and in no state: what the fact that just came said. */
export interface AtHand {
  /** Why the node failed. */
  readonly detail?: string;
  /** What the model reads for an invalid call. */
  readonly invalidTexts?: ReadonlyMap<ToolCallId, string>;
}

/** Puts all that follows with nothing from outside. Nothing, unless `carrier` is the turn's carrier. */
export function advance(draft: Draft, carrier: Carrier, bounds: Bounds, atHand: AtHand = {}): void {
  const turn = draft.state.running;
  if (turn?.phase !== 'carried' || turn.carrier !== carrier) return;
  if (turn.node === null) return request(draft, turn);
  const node = nodeOf(draft.state, turn.node);
  if (node.status === 'pending') return;
  if (node.status === 'failed') {
    const reason = node.reason ?? 'internal';
    return end(draft, turn, { status: 'failed', reason, detail: atHand.detail ?? `The model call failed: ${reason}.` });
  }
  for (const toolCallId of node.toolCallIds) follow(draft, toolCallId, carrier, bounds, atHand);
  if (node.toolCallIds.some((id) => toolCallOf(draft.state, id).result === null)) return;
  if (node.toolCallIds.length === 0 && !node.paused) return end(draft, turn, { status: 'completed' });
  if (turn.round < bounds.maxRounds) return request(draft, turn);
  const detail = `The turn made ${turn.round} model calls, the most it may, and is not finished.`;
  end(draft, turn, { status: 'failed', reason: 'too_many_rounds', detail });
}

/** The next round. The parent is where the turn began, never the head of the moment: an edit would land on the old branch. */
function request(draft: Draft, { turnId, node, parent, round }: RunningTurn): void {
  const next = round + 1;
  const data = { nodeId: `${turnId}-${next}`, parent: node ?? parent, kind: 'turn', turnId, round: next } as const;
  draft.put({ type: 'CallRequested', data, content: null });
}

function follow(draft: Draft, toolCallId: ToolCallId, carrier: Carrier, bounds: Bounds, atHand: AtHand): void {
  const call = toolCallOf(draft.state, toolCallId);
  const { argumentsDigest } = call;
  const runId = `${toolCallId}/${carrier}`;
  const start = () => {
    draft.put({ type: 'ToolExecutionStarted', data: { toolCallId, runId, carrier, argumentsDigest }, content: null });
  };
  if (call.status === 'approved') return start();
  if (call.status === 'started') {
    if (call.runs.includes(runId)) return; // in flight
    // A former carrier's run: it had its effect, or has it yet, or never. Only what changes nothing may run again.
    return call.effect === 'read' ? start() : close(draft, toolCallId, 'interrupted');
  }
  if (call.status !== 'received') return;
  if (call.invalid) {
    const text = atHand.invalidTexts?.get(toolCallId) ?? invalidText(call.invalid);
    const data = { toolCallId, isError: true, synthetic: 'invalid' } as const;
    return draft.put({ type: 'ToolExecuted', data, content: { text } });
  }
  if (!call.approval) return start();
  const data = { toolCallId, argumentsDigest, expiresAt: bounds.approvalsExpireAt };
  draft.put({ type: 'ToolApprovalRequested', data, content: null });
}
