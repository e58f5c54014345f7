import type { Answer, RecordAnswer, RecordAttemptFailure } from '../commands';
import type { Carrier, NodeId, ToolCallId } from '../events';
import { type Decision, refuse, type Refused } from '../refusal';
import { type ActiveConversation, carrierOf } from '../state';
import { advance, type AtHand } from './advance';
import { Draft, type DraftOfTurn } from './draft';
import { failure, notItsCarrier } from './work';

/** An answer that is refused is dropped and counted: the node has its outcome, or it is another carrier's to give. */
export function recordAnswer(state: ActiveConversation, command: RecordAnswer): Decision {
  const { carrier, nodeId, answer, bounds } = command;
  const refused = notMine(state, carrier, nodeId);
  if (refused) return refused;
  const draft = new Draft(state);
  draft.put(outcome(nodeId, answer));
  draft.factsEnd();
  advance(draft, carrier, bounds, atHand(nodeId, answer));
  return draft.done();
}

export function recordAttemptFailure(state: ActiveConversation, command: RecordAttemptFailure): Decision {
  const { carrier, nodeId, reason, retryAfterMs, detail, partial } = command;
  const node = state.nodes.get(nodeId);
  const refused = node && node.kind !== 'turn' ? notItsCarrier(node, carrier) : notMine(state, carrier, nodeId);
  if (refused) return refused;
  const data = { nodeId, reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const content = { detail, ...(partial !== undefined && { partial }) };
  return { ok: true, events: [{ type: 'CallAttemptFailed', data, content }], facts: 1 };
}

function notMine(state: ActiveConversation, carrier: Carrier, nodeId: NodeId): Refused | undefined {
  const { running } = state;
  if (carrierOf(running) !== carrier) return refuse({ code: 'not_carrier' });
  const pending = running?.node === nodeId && state.nodes.get(nodeId)?.status === 'pending';
  return pending ? undefined : refuse({ code: 'node_ended' });
}

function outcome(nodeId: NodeId, answer: Answer): DraftOfTurn {
  if (answer.status === 'failed') return failure(nodeId, answer);
  const { usage, stopReason, paused, response } = answer;
  const toolCalls = answer.toolCalls.map(({ invalidText: _, ...listing }, index) => ({
    toolCallId: `${nodeId}-${index}`,
    ...listing,
  }));
  const data = { nodeId, toolCalls, usage, stopReason, ...(paused && { paused }) };
  return { type: 'CallSucceeded', data, content: { response } };
}

function atHand(nodeId: NodeId, answer: Answer): AtHand {
  if (answer.status === 'failed') return { detail: answer.detail };
  const texts = new Map<ToolCallId, string>();
  for (const [index, { invalidText }] of answer.toolCalls.entries())
    if (invalidText !== undefined) texts.set(`${nodeId}-${index}`, invalidText);
  return { invalidTexts: texts };
}
