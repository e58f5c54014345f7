import type { Said, SaidCall } from './vocabulary';

/** A rule of PROTOCOL.md is broken; the text says which. */
export class Violation extends Error {}
export const demand = (holds: unknown, text: string): void => {
  if (!holds) throw new Violation(text);
};

interface JudgedCall extends SaidCall {
  turn: string | undefined;
  status: 'received' | 'awaiting' | 'approved' | 'refused' | 'started' | 'executed';
  runs: string[];
  result: string | null;
}

interface JudgedNode {
  parent: string | null;
  /** Of a compaction: the node before it. */
  origin: string | null;
  kind: string;
  status: string;
  reason?: string;
  calls: string[];
}

/** What a log means, by a fold of the judge's own: none of the product's code runs here, or the product would judge itself. */
export interface Verdict {
  turn: {
    id: string;
    carrier: string | null;
    parent: string | null;
    node: string | null;
    kind: string;
    succeeded: string | null;
  } | null;
  turns: Record<string, string>;
  parents: Record<string, string | null>;
  nodes: Record<string, JudgedNode>;
  calls: Record<string, JudgedCall>;
  keys: Record<string, string>;
  queue: string[];
  head: string | null;
  owesHead: { to: string; reason: string } | null;
  /** Every node that was the head since the last clear, in order. */
  heads: string[];
  epoch: number;
  /** Turns and nodes of earlier epochs. */
  past: string[];
  dependents: string[];
  /** `over`: deleted, and its key with it. */
  life: 'active' | 'deleted' | 'over';
}

export const EMPTY: Verdict = {
  turn: null,
  turns: {},
  parents: {},
  nodes: {},
  calls: {},
  keys: {},
  queue: [],
  head: null,
  owesHead: null,
  heads: [],
  epoch: 0,
  past: [],
  dependents: [],
  life: 'active',
};

/** Judges one stored event, and throws a Violation where it breaks a rule. */
export function judge(before: Verdict, e: Said): Verdict {
  const s = structuredCopy(before);
  demand(s.life === 'active' || (s.life === 'deleted' && e.type === 'KeyDestroyed'), `${e.type} stands behind the end`);
  if (e.key) {
    demand(s.keys[e.key.name] === undefined, `I3: key ${e.key.name} takes effect twice`);
    s.keys[e.key.name] = e.key.digest;
  }
  on(s, e);
  if (s.turn && waits(s)) s.turn.carrier = null;
  return s;
}

const structuredCopy = (s: Verdict): Verdict => JSON.parse(JSON.stringify(s));

function on(s: Verdict, e: Said): void {
  switch (e.type) {
    case 'TurnQueued':
      s.queue.push(e.turn);
      s.turns[e.turn] = 'queued';
      return;
    case 'TurnStarted':
      return turnStarts(s, e);
    case 'TurnTakenOver':
      demand(s.turn?.id === e.turn, `I1: ${e.turn} is taken over and does not run`);
      s.turn!.carrier = e.carrier;
      return;
    case 'CallRequested':
      return callIsRequested(s, e);
    case 'WorkRequested':
      return workIsRequested(s, e);
    case 'Compacted':
      return compacts(s, e);
    case 'CallAttemptFailed':
      return demand(s.nodes[e.node]?.status === 'pending', `I4: an attempt of ${e.node} after its end`);
    case 'CallSucceeded':
      return callSucceeds(s, e);
    case 'CallFailed':
      demand(s.nodes[e.node]?.status === 'pending', `I4: ${e.node} fails and is ${s.nodes[e.node]?.status}`);
      Object.assign(s.nodes[e.node]!, { status: 'failed', reason: e.reason });
      return;
    case 'ToolApprovalRequested': {
      const call = s.calls[e.call]!;
      const may = call.status === 'received' && call.approval && !call.invalid && call.args === e.args;
      demand(may, `I2: an approval of ${e.call} is asked for, which is ${call.status}`);
      call.status = 'awaiting';
      return;
    }
    case 'ToolApprovalDecided': {
      const call = s.calls[e.call]!;
      demand(call.status === 'awaiting', `I2: ${e.call} is decided (${e.decision}) and is ${call.status}`);
      demand(e.decision !== 'approve' || e.args === call.args, `I2: ${e.call} is approved with other arguments`);
      call.status = e.decision === 'approve' ? 'approved' : 'refused';
      return;
    }
    case 'ToolExecutionStarted':
      return toolStarts(s, e);
    case 'ToolExecuted':
      return toolIsExecuted(s, e);
    case 'TurnEnded':
      return turnEnds(s, e);
    case 'HeadMoved':
      return headMoves(s, e);
    case 'Cleared':
      return clears(s, e);
    case 'Attached':
      s.dependents.push(e.conversation);
      return;
    case 'Stated':
      demand(e.node === null || s.nodes[e.node], `I4: something is stated at ${e.node}, which is not there`);
      return;
    case 'Deleted':
      demand(!s.turn && !s.queue.length && !s.owesHead, 'the conversation is deleted while a turn is unfinished');
      s.life = 'deleted';
      return;
    case 'KeyDestroyed':
      demand(s.life === 'deleted', 'a living conversation loses its key');
      s.life = 'over';
      return;
    case 'Noise':
      return;
  }
}

function turnStarts(s: Verdict, e: Extract<Said, { type: 'TurnStarted' }>): void {
  demand(!s.turn, `I1: ${e.turn} starts while ${s.turn?.id} is unfinished`);
  const place = e.kind === 'ask' ? s.head : s.parents[e.of ?? ''];
  demand(!s.past.includes(e.of ?? ''), `${e.turn} goes back to ${e.of}, which was cleared`);
  demand(e.parent === place, `I4: ${e.turn} (${e.kind}) starts at ${e.parent}, not at ${place}`);
  s.queue = s.queue.filter((id) => id !== e.turn);
  s.turns[e.turn] = 'running';
  s.parents[e.turn] = e.parent; // where an edit of this turn goes back to
  s.turn = { id: e.turn, carrier: e.carrier, parent: e.parent, node: null, kind: e.kind, succeeded: null };
}

function callIsRequested(s: Verdict, e: Extract<Said, { type: 'CallRequested' }>): void {
  demand(s.turn?.id === e.turn, `I1: ${e.node} is requested and ${e.turn} does not run`);
  const turn = s.turn!;
  demand(!s.past.includes(e.parent ?? ''), `${e.node} grows from ${e.parent}, which was cleared`);
  demand(!s.nodes[e.node] && e.parent === (turn.node ?? turn.parent), `I4: ${e.node} has a wrong parent`);
  const open = openCalls(s, e.parent);
  demand(!open.length, `I7: ${e.node} is requested with ${open.join()} unanswered`);
  s.nodes[e.node] = { parent: e.parent, origin: null, kind: 'turn', status: 'pending', calls: [] };
  turn.node = e.node;
}

/** A call outside a turn stands where it likes in this epoch; what it sends has a result for each call. Extraction is noise here; what is sent again was sent before. */
function workIsRequested(s: Verdict, e: Extract<Said, { type: 'WorkRequested' }>): void {
  const from = e.origin ?? e.parent;
  demand(!s.nodes[e.node], `I4: ${e.node} is requested twice`);
  if (e.kind === 'reissue') {
    const of = s.nodes[from ?? ''];
    demand(of && of.status !== 'pending', `${e.node} repeats ${from}, which has not ended`);
    demand(of?.kind !== 'reissue', `${e.node} repeats ${from}, which repeats another`);
  } else demand(!s.past.includes(from ?? ''), `${e.node} grows from ${from}, which was cleared`);
  if (e.kind !== 'extraction' && e.kind !== 'reissue') {
    demand(s.nodes[from ?? ''], `I4: ${e.node} grows from ${from}, which is not there`);
    demand(!openCalls(s, from).length, `I7: ${e.node} is requested with ${openCalls(s, from).join()} unanswered`);
  }
  const { parent, origin, kind } = e;
  s.nodes[e.node] = { parent, origin, kind, status: 'pending', calls: [] };
}

function compacts(s: Verdict, e: Extract<Said, { type: 'Compacted' }>): void {
  const node = s.nodes[e.node];
  demand(node?.kind === 'compaction' && node.status === 'succeeded', `I4: ${e.node} compacts, and has no summary`);
  demand(!s.turn && !s.queue.length, `I4: ${e.node} compacts while a turn is unfinished`);
  demand(
    node?.origin === e.origin && s.head === e.origin,
    `I4: ${e.node} compacts ${e.origin}, and the head is ${s.head}`,
  );
  s.owesHead = { to: e.node, reason: 'compaction' };
}

function callSucceeds(s: Verdict, e: Extract<Said, { type: 'CallSucceeded' }>): void {
  const node = s.nodes[e.node]!;
  demand(node.status === 'pending', `I4: ${e.node} succeeds and is ${node.status}`);
  node.status = 'succeeded';
  node.calls = e.calls.map(({ id }) => id);
  for (const call of e.calls) {
    demand(!s.calls[call.id], `I4: ${call.id} is listed twice`);
    s.calls[call.id] = { ...call, turn: s.turn?.id, status: 'received', runs: [], result: null };
  }
  if (s.turn?.node === e.node) s.turn.succeeded = e.node;
}

function toolStarts(s: Verdict, e: Extract<Said, { type: 'ToolExecutionStarted' }>): void {
  const call = s.calls[e.call]!;
  demand(s.turn?.id === call.turn, `I2: ${e.call} starts and its turn does not run`);
  const again = call.status === 'started' && !call.write;
  const may = !call.invalid && (call.status === (call.approval ? 'approved' : 'received') || again);
  demand(may && e.args === call.args, `I2: ${e.call} starts and is ${call.status}`);
  call.status = 'started';
  call.runs.push(e.run);
}

function toolIsExecuted(s: Verdict, e: Extract<Said, { type: 'ToolExecuted' }>): void {
  const call = s.calls[e.call]!;
  demand(!call.result, `I6: ${e.call} gets a second result`);
  demand(e.synthetic ?? call.runs.includes(e.run ?? ''), `I6: ${e.call} gets the result of an unknown run`);
  const ran = call.status === 'started';
  demand(
    !ran || !e.synthetic || e.synthetic === 'interrupted',
    `I6: ${e.call} was started, and is closed as ${e.synthetic}`,
  );
  Object.assign(call, { status: 'executed', result: e.synthetic ? 'synthetic' : 'real' });
}

function turnEnds(s: Verdict, e: Extract<Said, { type: 'TurnEnded' | 'TurnQueued' }>): void {
  demand(s.turn?.id === e.turn || s.queue.includes(e.turn), `I4: ${e.turn} ends and was not running`);
  s.turns[e.turn] = e.status;
  s.queue = s.queue.filter((id) => id !== e.turn);
  if (s.turn?.id !== e.turn) return;
  const { kind, succeeded, node: id } = s.turn;
  const node = s.nodes[id ?? ''];
  demand(node?.status !== 'pending', `I4: ${e.turn} ends and leaves ${id} pending`);
  const calls = (node?.calls ?? []).map((call) => s.calls[call]!);
  demand(!calls.some(({ status }) => status === 'awaiting'), `I2: ${e.turn} ends and leaves an approval open`);
  // No request fits behind an answer: nor would the next turn's.
  const unmakeable = e.reason === 'context_overflow' && node?.status === 'succeeded';
  const before = node?.parent === s.turn.parent ? null : (node?.parent ?? null);
  const to = unmakeable ? before : node?.reason === 'context_overflow' ? succeeded : id;
  const reason = e.status !== 'completed' ? 'failure' : kind === 'ask' ? 'turn' : kind;
  s.owesHead = to === null ? null : { to, reason };
  s.turn = null;
}

function headMoves(s: Verdict, e: Extract<Said, { type: 'HeadMoved' }>): void {
  const { to, reason } = e;
  demand(e.from === s.head, `I4: the head moves from ${e.from} and is ${s.head}`);
  const switched = reason === 'switch' && !s.owesHead && !s.turn && !s.queue.length && s.heads.includes(to);
  demand(
    switched || (s.owesHead?.to === to && s.owesHead.reason === reason),
    `I4: the head moves to ${to} (${reason})`,
  );
  [s.head, s.owesHead] = [to, null];
  s.heads.push(to);
}

/** Transcript and head go together, while nothing runs; what was before can be read and never grown from. */
function clears(s: Verdict, e: Extract<Said, { type: 'Cleared' }>): void {
  demand(!s.turn && !s.queue.length && !s.owesHead, 'the conversation is cleared while a turn is unfinished');
  demand(e.from === s.head, `the conversation is cleared from ${e.from}, and its head is ${s.head}`);
  demand(e.epoch === s.epoch + 1, `epoch ${e.epoch} follows on ${s.epoch}`);
  const here = [...Object.keys(s.nodes), ...Object.keys(s.turns)];
  demand(here.length > s.past.length, 'there was nothing to clear');
  [s.head, s.heads, s.epoch, s.past] = [null, [], e.epoch, here];
}

/** The calls on the path from a node to the root that have no result. */
function openCalls(s: Verdict, from: string | null): string[] {
  const open: string[] = [];
  for (let id = from; id; id = s.nodes[id]!.parent ?? s.nodes[id]!.origin)
    open.push(...s.nodes[id]!.calls.filter((call) => !s.calls[call]!.result));
  return open;
}

/** A turn waits when each call of its last node has a result or awaits a decision, and one awaits. It has no carrier then. */
function waits(s: Verdict): boolean {
  const calls = (s.nodes[s.turn?.node ?? '']?.calls ?? []).map((id) => s.calls[id]!);
  return calls.some((c) => c.status === 'awaiting') && calls.every((c) => c.result ?? c.status === 'awaiting');
}
