import type {
  Answer,
  CloseWork,
  JudgeTransform,
  RecordWork,
  RequestExtraction,
  RequestSummary,
  RequestTransform,
  StartCompaction,
  WorkAnswer,
} from '../commands';
import type { Carrier, CommandKey, EventOf, NodeId, RequestedNode, WorkKind } from '../events';
import { lineage, openCallsOnPath } from '../path';
import { alreadySo, type Decision, refuse, type Refused } from '../refusal';
import { type ActiveConversation, isSource, nodeOf, type NodeRecord } from '../state';
import { Draft } from './draft';
import { beforeClear, busy, remembered } from './guards';
import { close } from './synthetic';

/** Calls outside a turn (PROTOCOL section 8): each has a carrier of its own, and none blocks a turn. */

type WorkNode = Extract<NodeRecord, { kind: WorkKind }>;
type Asked = Exclude<RequestedNode, { kind: 'turn' | 'reissue' }>;

export function startCompaction(state: ActiveConversation, command: StartCompaction): Decision {
  const { nodeId, carrier, instruction, reason, continues, key } = command;
  const known = remembered(state, key);
  if (known) return known;
  const occupied = busy(state);
  if (occupied) return occupied;
  const origin = state.head;
  if (origin === null || state.nodes.get(origin)?.kind === 'compaction') return refuse({ code: 'nothing_to_compact' });
  if (continues !== undefined && !covers(state, continues, origin))
    return refuse({ code: 'unknown_parent', parent: continues });
  const place = { nodeId, kind: 'compaction', parent: null, origin, carrier, reason } as const;
  return request(state, { ...place, ...(continues !== undefined && { continues }) }, instruction, key);
}

export function requestSummary(state: ActiveConversation, command: RequestSummary): Decision {
  const { nodeId, carrier, instruction, parent, continues, segment } = command;
  const refused = notThere(state, parent) ?? notOfAPath(state, parent);
  if (refused) return refused;
  if (segment && !endsWhole(state, parent)) return refuse({ code: 'unknown_parent', parent });
  if (continues !== undefined && !covers(state, continues, parent))
    return refuse({ code: 'unknown_parent', parent: continues });
  const made = segment && partMade(state, command);
  if (made) return made;
  const place = { nodeId, kind: 'summary', parent, carrier, ...(segment && { segment }) } as const;
  return request(state, { ...place, ...(continues !== undefined && { continues }) }, instruction);
}

/** Turns, and compactions that succeeded, make paths: what stands beside one is not summarised, nor is a turn that still runs. */
function notOfAPath(state: ActiveConversation, parent: NodeId): Refused | undefined {
  const node = state.nodes.get(parent);
  if (!node || (node.kind === 'compaction' && node.status === 'succeeded')) return undefined;
  if (node.kind !== 'turn') return refuse({ code: 'unknown_parent', parent });
  return node.turnId === state.running?.turnId ? busy(state) : undefined;
}

/** The node behind it sends no results of its calls: none would stand in a request without its call. */
function endsWhole(state: ActiveConversation, nodeId: NodeId): boolean {
  const node = state.nodes.get(nodeId);
  return node === undefined || (node.kind === 'turn' && node.toolCallIds.length === 0);
}

/** What leaves a window is summarised once: a part of this way that goes on from the same one is there, is being made, or was just tried. */
function partMade(state: ActiveConversation, { parent, continues, seen }: RequestSummary): Decision | undefined {
  const way = new Set<NodeId>();
  for (const id of lineage(state, parent)) {
    way.add(id);
    // What stands behind a compaction begins anew.
    if (state.nodes.get(id)?.kind === 'compaction') break;
  }
  for (const [nodeId, node] of state.nodes) {
    if (node.kind !== 'summary' || !node.segment || node.continues !== continues || !way.has(node.parent)) continue;
    const isNew = seen !== undefined && node.requestedAt > seen;
    if (node.status !== 'failed' || isNew)
      return { ...alreadySo, known: { revision: BigInt(node.requestedAt), nodeId } };
  }
  return undefined;
}

/** A summary that is there, of a part of the way to this node. One that this conversation did not make stands where it grows from. */
function covers(state: ActiveConversation, summary: NodeId, to: NodeId): boolean {
  const node = state.nodes.get(summary);
  if (!node) return state.source !== null;
  if (node?.kind !== 'summary' || node.status !== 'succeeded') return false;
  for (const id of lineage(state, to)) if (id === node.parent) return true;
  return false;
}

/** Under the path's end or under the attempt before: the head moves for neither. */
export function requestTransform(state: ActiveConversation, command: RequestTransform): Decision {
  const { nodeId, carrier, instruction, after, key } = command;
  const known = remembered(state, key);
  if (known) return known;
  const parent = after ?? state.head;
  if (parent === null) return refuse({ code: 'no_context' });
  if (after !== undefined && state.nodes.get(after)?.kind !== 'transform')
    return refuse({ code: 'unknown_parent', parent: after });
  const refused = notThere(state, parent);
  return refused ?? request(state, { nodeId, kind: 'transform', parent, carrier }, instruction, key);
}

/** Under the last node of its turn. One that is there, or gave its answer, is it already; and none is tried for ever. */
export function requestExtraction(state: ActiveConversation, command: RequestExtraction): Decision {
  const { nodeId, carrier, instruction, turnId } = command;
  const turn = state.turns.get(turnId);
  if (!turn) return refuse({ code: 'not_found', what: 'turn' });
  if (turn.status === 'running' || turn.status === 'queued')
    return busy(state) ?? refuse({ code: 'turn_running', turnId, status: turn.status });
  const parent = turn.lastNode;
  if (turn.status !== 'completed' || parent === null) return refuse({ code: 'no_context' });
  const [latest] = turn.extractions.slice(-1);
  const before = latest === undefined ? undefined : nodeOf(state, latest);
  if (before && (before.reason !== 'interrupted' || turn.extractions.length >= MOST_EXTRACTIONS))
    return { ...alreadySo, known: { revision: BigInt(before.requestedAt), nodeId: latest as NodeId } };
  return notThere(state, parent) ?? request(state, { nodeId, kind: 'extraction', parent, carrier }, instruction);
}

/** Of one turn: the second where the first was cut off. */
const MOST_EXTRACTIONS = 2;

/** No node of this conversation, and not the one that it grows from; or one from before a clear. */
function notThere(state: ActiveConversation, parent: NodeId): Refused | undefined {
  if (isSource(state, parent)) return undefined;
  const node = state.nodes.get(parent);
  return node ? beforeClear(state, node.requestedAt) : refuse({ code: 'unknown_parent', parent });
}

/** Calls that a former turn left open are closed as by a start: the request would hold a call without its result. */
function request(state: ActiveConversation, data: Asked, instruction: string, key?: CommandKey): Decision {
  const draft = new Draft(state);
  const from = data.kind === 'compaction' ? data.origin : data.parent;
  for (const toolCallId of openCallsOnPath(state, from)) close(draft, toolCallId, 'interrupted');
  draft.put({ type: 'CallRequested', data, content: { instruction }, ...(key && { key }) });
  return draft.done();
}

/** Whoever judges, judges the same: a second verdict is already so. */
export function judgeTransform(state: ActiveConversation, { nodeId, verdict }: JudgeTransform): Decision {
  const node = state.nodes.get(nodeId);
  if (node?.kind !== 'transform' || node.status !== 'succeeded') return refuse({ code: 'not_found', what: 'node' });
  if (node.judged) return alreadySo;
  const event: EventOf<'TransformJudged'> =
    'errors' in verdict
      ? { type: 'TransformJudged', data: { nodeId, ok: false }, content: { errors: verdict.errors } }
      : { type: 'TransformJudged', data: { nodeId, ok: true, playbookId: verdict.playbookId }, content: null };
  return { ok: true, events: [event], facts: 1 };
}

export function recordWork(state: ActiveConversation, { carrier, nodeId, answer }: RecordWork): Decision {
  const node = state.nodes.get(nodeId);
  if (!node || node.kind === 'turn') return refuse({ code: 'not_found', what: 'node' });
  const refused = notItsCarrier(node, carrier);
  if (refused) return refused;
  const draft = new Draft(state);
  if (node.kind === 'compaction' && answer.status === 'succeeded') compacted(draft, nodeId, node.origin, answer);
  else draft.put(ended(nodeId, answer));
  if (node.kind === 'extraction' && answer.status === 'succeeded') extracted(draft, answer);
  return draft.done();
}

/** What an extraction found stands with its answer. */
function extracted(draft: Draft, { extracted: found }: Succeeded): void {
  for (const statement of found?.statements ?? []) draft.put(statement);
  for (const tagging of found?.tags ?? [])
    draft.put({ type: 'ItemTagged', data: { ...tagging, source: 'extraction' }, content: null });
}

/** The head moves only where nobody would miss what came since. */
function compacted(draft: Draft, nodeId: NodeId, origin: NodeId, answer: Succeeded): void {
  const { state } = draft;
  if (state.head !== origin || busy(state)) {
    const detail = 'The conversation went on while its summary was written.';
    return draft.put(failure(nodeId, { reason: 'superseded', detail }));
  }
  draft.put(ended(nodeId, answer));
  draft.put({ type: 'ContextCompacted', data: { nodeId, origin }, content: null });
  draft.put({ type: 'HeadMoved', data: { from: origin, to: nodeId, reason: 'compaction' }, content: null });
}

export function closeWork(state: ActiveConversation, { nodeId, lapsed }: CloseWork): Decision {
  const node = state.nodes.get(nodeId);
  if (!node || node.kind === 'turn') return refuse({ code: 'not_found', what: 'node' });
  if (node.status !== 'pending') return refuse({ code: 'node_ended' });
  if (node.carrier !== lapsed) return refuse({ code: 'carried' });
  const detail = 'The process that made this call ended before the answer came.';
  return { ok: true, events: [failure(nodeId, { reason: 'interrupted', detail })], facts: 1 };
}

/** An answer to a call outside a turn is taken from its own carrier, once. */
export function notItsCarrier(node: WorkNode, carrier: Carrier): Refused | undefined {
  if (node.carrier !== carrier) return refuse({ code: 'not_carrier' });
  return node.status === 'pending' ? undefined : refuse({ code: 'node_ended' });
}

type Succeeded = Extract<WorkAnswer, { status: 'succeeded' }>;

function ended(nodeId: NodeId, answer: WorkAnswer): EventOf<'CallSucceeded'> | EventOf<'CallFailed'> {
  if (answer.status === 'failed') return failure(nodeId, answer);
  const { usage, stopReason, response } = answer;
  return { type: 'CallSucceeded', data: { nodeId, toolCalls: [], usage, stopReason }, content: { response } };
}

type Why = Omit<Extract<Answer, { status: 'failed' }>, 'status'>;

export function failure(nodeId: NodeId, { reason, detail, partial }: Why): EventOf<'CallFailed'> {
  const content = { detail, ...(partial !== undefined && { partial }) };
  return { type: 'CallFailed', data: { nodeId, reason }, content };
}
