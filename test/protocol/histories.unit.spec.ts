import {
  absent,
  type ActiveConversation,
  type AnsweredToolCall,
  carrierOf,
  type ConversationCommand,
  decide,
  type Decision,
  type DeletedConversation,
  deserialize,
  type DraftEvent,
  evolve,
  type FailureReason,
  serialize,
} from '@palimpsest/conversation';
import fc from 'fast-check';
import { agree } from './agree';
import { demand, EMPTY, judge, type Verdict } from './judge';
import { translate } from './vocabulary';

/**
 * Random commands, most of them sensible and some not, against the judge of this folder. It is a fold of its own and throws where an
 * invariant breaks: 1, 2 and 4 of the design, I1, I2, I3, I4, I6 and I7 of the protocol.
 */
const bounds = { maxRounds: 3, approvalsExpireAt: '2026-11-30T00:00:00.000Z' };
const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };

interface Move {
  /** `Fitting`: whatever the conversation is waiting for. */
  readonly kind: ConversationCommand['type'] | 'Fitting';
  /** Picks among ids that are known, or names one that is not. */
  readonly pick: number;
  readonly calls: readonly AnsweredToolCall[];
  readonly failure: FailureReason | null;
  readonly key: { readonly name: string; readonly digest: string } | null;
  readonly yes: boolean;
  /** The process dies after the append: what followed from its fact is cut. */
  readonly cut: boolean;
}

const call = fc.record<AnsweredToolCall>(
  {
    tool: fc.constant('tool'),
    effect: fc.constantFrom('read', 'write'),
    approval: fc.boolean(),
    argumentsDigest: fc.constant('d'),
    invalid: fc.constantFrom('unknown_tool', 'invalid_arguments'),
  },
  { requiredKeys: ['tool', 'effect', 'approval', 'argumentsDigest'] },
);
const kinds: fc.WeightedArbitrary<Move['kind']>[] = [
  { weight: 24, arbitrary: fc.constant('Fitting') },
  {
    weight: 3,
    arbitrary: fc.constantFrom('StartTurn', 'EditTurn', 'RegenerateTurn', 'StartQueuedTurn', 'SwitchBranch'),
  },
  { weight: 3, arbitrary: fc.constantFrom('RecordAnswer', 'RecordToolResult', 'RecordAttemptFailure', 'GoOn') },
  { weight: 3, arbitrary: fc.constantFrom('DecideApproval', 'ExpireApproval', 'TakeOverTurn', 'TakeOverTurn') },
  { weight: 2, arbitrary: fc.constantFrom('CancelTurn', 'CancelTurn', 'FailTurn') },
  { weight: 2, arbitrary: fc.constantFrom('StartCompaction', 'RequestTransform', 'RequestSummary') },
  { weight: 3, arbitrary: fc.constantFrom('RecordWork', 'RecordWork', 'CloseWork') },
  { weight: 1, arbitrary: fc.constantFrom('ClearConversation', 'ClearConversation', 'AttachDependent') },
];
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const move: fc.Arbitrary<Move> = fc.record({
  kind: fc.oneof(...kinds),
  pick: fc.nat(1000),
  calls: fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(call, { minLength: 1, maxLength: 3 }) },
  ),
  failure: rarely(fc.constantFrom('context_overflow', 'overloaded', 'timeout')),
  key: rarely(fc.record({ name: fc.stringMatching(/^k[0-9]$/), digest: fc.constantFrom('d', 'e') })),
  yes: fc.boolean(),
  cut: fc.boolean(),
});
const history = fc.record({ whenBusy: fc.constantFrom('refuse' as const, 'queue' as const), moves: fc.array(move, { maxLength: 80, size: 'max' }) }); // prettier-ignore

const pickOf = (list: Iterable<string>, pick: number): string => {
  const all = [...list].sort();
  return pick % 17 === 0 || all.length === 0 ? 'unknown' : all[pick % all.length]!;
};
const keysOf = (table: Iterable<readonly [string, unknown]>) => [...table].map(([id]) => id);

const withStatus = (state: ActiveConversation, status: 'started' | 'awaiting') =>
  state.openCalls.filter((id) => state.toolCalls.get(id)?.status === status);

function fitting(state: ActiveConversation, yes: boolean): ConversationCommand['type'] {
  const { running, queue, nodes } = state;
  if (withStatus(state, 'awaiting').length > 0 && yes) return 'DecideApproval';
  if (withStatus(state, 'started').length > 0) return 'RecordToolResult';
  if (withStatus(state, 'awaiting').length > 0) return 'ExpireApproval';
  if (!running) return queue.length > 0 ? 'StartQueuedTurn' : yes ? 'StartTurn' : 'EditTurn';
  if (running.phase !== 'carried') return 'TakeOverTurn';
  return nodes.get(running.node ?? '')?.status === 'pending' ? 'RecordAnswer' : 'GoOn';
}

/** Calls outside a turn that are out; where there are none, any node. */
function worksOf({ nodes }: ActiveConversation): string[] {
  const out = [...nodes].filter(([, node]) => node.kind !== 'turn' && node.status === 'pending').map(([id]) => id);
  return out.length > 0 ? out : keysOf(nodes);
}

function carrierOfWork({ nodes }: ActiveConversation, id: string): string {
  const node = nodes.get(id);
  return node && node.kind !== 'turn' ? node.carrier : 'nobody';
}

function commandOf(state: ActiveConversation, verdict: Verdict, m: Move, n: number): ConversationCommand {
  const kind = m.kind === 'Fitting' ? fitting(state, m.yes) : m.kind;
  const { pick, yes } = m;
  const token = `c${n}`;
  const mine = pick % 7 === 0 ? token : (carrierOf(state.running) ?? token);
  const key = m.key ?? undefined;
  const question = { turnId: `t${n}`, carrier: token, question: 'q', assistantVersion: 1, at: '2026-11-29T00:00:00.000Z', zone: 'UTC', bounds }; // prettier-ignore
  const wanted = withStatus(state, kind === 'RecordToolResult' ? 'started' : 'awaiting');
  const toolCallId = pickOf(wanted.length > 0 && pick % 8 ? wanted : keysOf(state.toolCalls), pick);
  const runs = verdict.calls[toolCallId]?.runs ?? [];
  const nodeId = state.running?.node && pick % 5 ? state.running.node : pickOf(keysOf(state.nodes), pick);
  switch (kind) {
    case 'StartTurn':
      return { type: kind, ...question, parent: pick % 5 ? undefined : pickOf(keysOf(state.nodes), pick), key };
    case 'EditTurn':
    case 'RegenerateTurn':
      return { type: kind, ...question, of: pickOf(keysOf(state.turns), pick), key };
    case 'StartQueuedTurn':
      return { type: kind, ...question, turnId: state.queue[0]?.turnId ?? 'unknown' };
    case 'SwitchBranch':
      return { type: kind, nodeId: pickOf(keysOf(state.nodes), pick), key };
    case 'ClearConversation':
      return { type: kind, key };
    case 'AttachDependent':
      return { type: kind, conversationId: `d${pick % 3}`, nodeId: pickOf(keysOf(state.nodes), pick), key };
    case 'DeleteConversation':
      return { type: kind, keyId: 'k', deletedDependents: ['d0', 'd1', 'd2'].slice(0, pick % 4) };
    case 'CancelTurn':
      return {
        type: kind,
        turnId: state.running && yes ? state.running.turnId : pickOf(keysOf(state.turns), pick),
        key,
      };
    case 'DecideApproval': {
      const decision = pick % 3 ? 'approve' : 'reject';
      return { type: kind, toolCallId, decision, argumentsDigest: pick % 6 ? 'd' : 'x', carrier: token, bounds, key };
    }
    case 'ExpireApproval':
      return { type: kind, toolCallId, carrier: token, bounds };
    case 'RecordAnswer':
      return { type: kind, carrier: mine, nodeId, answer: answerOf(m), bounds };
    case 'RecordAttemptFailure':
      return { type: kind, carrier: mine, nodeId, reason: 'overloaded', detail: 'busy' };
    case 'RecordToolResult': {
      const runId = runs[pick % (runs.length || 1)] ?? 'unknown';
      return { type: kind, carrier: mine, toolCallId, runId, isError: yes, content: { text: 'r' }, bounds };
    }
    case 'GoOn':
      return { type: kind, carrier: mine, bounds };
    case 'TakeOverTurn':
      return {
        type: kind,
        carrier: token,
        lapsed: yes ? carrierOf(state.running) : 'another',
        maxTakeovers: 3,
        bounds,
      };
    case 'FailTurn':
      return { type: kind, carrier: mine, reason: 'internal', detail: 'broken' };
    case 'StartCompaction':
      return { type: kind, nodeId: `w${n}`, carrier: token, instruction: 'i', key };
    case 'RequestSummary':
      return {
        type: kind,
        nodeId: `w${n}`,
        carrier: token,
        instruction: 'i',
        parent: pickOf(keysOf(state.nodes), pick),
      };
    case 'RequestTransform': {
      const after = yes ? undefined : pickOf(keysOf(state.nodes), pick);
      return { type: kind, nodeId: `w${n}`, carrier: token, instruction: 'i', after, key };
    }
    case 'RecordWork': {
      const work = pickOf(worksOf(state), pick);
      return { type: kind, nodeId: work, carrier: pick % 5 ? carrierOfWork(state, work) : token, answer: answerOf(m) };
    }
    case 'CloseWork': {
      const work = pickOf(worksOf(state), pick);
      return { type: kind, nodeId: work, lapsed: pick % 5 ? carrierOfWork(state, work) : token };
    }
    case 'StartConversation':
      throw new Error('A history starts once.');
  }
}

function answerOf({ failure, calls }: Move) {
  if (failure) return { status: 'failed', reason: failure, detail: 'it failed' } as const;
  return { status: 'succeeded', toolCalls: calls, usage, stopReason: 'end', response: null } as const;
}

/** A conversation as the product and the judge see it, side by side. */
class Both {
  verdict = EMPTY;
  private now: ActiveConversation | DeletedConversation;
  private readonly seen = new Map<string, string>();

  constructor(whenBusy: 'refuse' | 'queue') {
    const data = { assistantId: 'a', assistantVersion: 1, subjectId: 's', zone: 'UTC', whenBusy };
    this.now = evolve(absent, { type: 'ConversationStarted', data, revision: 0n });
  }

  get state(): ActiveConversation {
    if (this.now.status !== 'active') throw new Error('The conversation is deleted.');
    return this.now;
  }

  append(events: readonly DraftEvent[]): void {
    for (const event of events) {
      this.verdict = judge(this.verdict, translate(event));
      this.now = evolve(this.now, { ...event, revision: BigInt(this.now.revision + 1) });
      agree(this.verdict, this.now);
    }
    demand(this.verdict.owesHead === null, 'I4: a turn ended, and the head did not move with it');
    if (this.now.status === 'active') this.nodesStay(this.now);
  }

  /** Invariant 2: a node's place, kind and turn never change, and its status moves once. */
  private nodesStay({ nodes }: ActiveConversation): void {
    for (const [id, node] of nodes) {
      const { toolCallIds: _, headAt: _moves, reason: _why, ...kept } = node;
      const before = this.seen.get(id);
      const now = JSON.stringify(kept);
      if (before !== undefined && !before.includes('"pending"')) expect(now).toBe(before);
      this.seen.set(id, now);
    }
  }

  apply(command: ConversationCommand, cut = false): Decision {
    const decision = decide(this.now, command);
    if (decision.ok)
      this.append(cut && decision.facts > 0 ? decision.events.slice(0, decision.facts) : decision.events);
    return decision;
  }
}

function keyIsKept(verdict: Verdict, command: ConversationCommand, decision: Decision): void {
  const key = 'key' in command ? command.key : undefined;
  const digest = key && verdict.keys[key.name];
  if (digest === undefined) return;
  if (digest === key?.digest) expect(decision).toMatchObject({ ok: true, events: [], known: {} });
  else expect(decision).toEqual({ ok: false, refusal: { code: 'idempotency_conflict' } });
}

/** Of the nodes that were the head, the last one with `nodeId` on its way to the root. */
function expectedHead({ heads, nodes }: Verdict, nodeId: string): string | undefined {
  const under = (id: string | null): boolean =>
    id !== null && (id === nodeId || under(nodes[id]?.parent ?? nodes[id]?.origin ?? null));
  return heads.findLast(under);
}

/** What nothing may come back to: turns and nodes from before the last clear. */
function pastStays(verdict: Verdict, command: ConversationCommand, decision: Decision): void {
  const named = 'of' in command ? command.of : command.type === 'SwitchBranch' ? command.nodeId : undefined;
  if (named === undefined || !verdict.past.includes(named)) return;
  if (decision.ok) expect(decision.known).toBeDefined();
}

/** While a turn runs, waits or is queued there is no clear and no delete. */
function busyStays(state: ActiveConversation): void {
  if (!state.running && !state.queue.length) return;
  for (const command of [
    { type: 'ClearConversation' },
    { type: 'StartCompaction', nodeId: 'k', carrier: 'k', instruction: 'i' },
    { type: 'DeleteConversation', keyId: 'k', deletedDependents: state.dependents },
  ] as const)
    // prettier-ignore
    expect(decide(state, command)).toMatchObject({ ok: false, refusal: { code: 'turn_running' } });
}

/** Everything that a living process does by itself, until nothing is left to do. */
function drain(both: Both): void {
  for (let n = 0; both.state.running ?? both.state.queue.length; n++) {
    if (n > 200) throw new Error('I5: the conversation does not come to rest');
    const carrier = `drain${n}`;
    const { running, queue, openCalls } = both.state;
    if (!running) {
      const question = { question: 'q', at: '2026-11-29T00:00:00.000Z', bounds };
      both.apply({ type: 'StartQueuedTurn', turnId: queue[0]?.turnId ?? '', carrier, ...question });
      continue;
    }
    for (const toolCallId of openCalls) both.apply({ type: 'ExpireApproval', toolCallId, carrier, bounds });
    both.apply({ type: 'TakeOverTurn', carrier, lapsed: carrierOf(both.state.running), maxTakeovers: 3, bounds });
    const mine = carrierOf(both.state.running);
    if (!mine) continue;
    const answer = { status: 'succeeded', toolCalls: [], usage, stopReason: 'end', response: null } as const;
    both.apply({ type: 'RecordAnswer', carrier: mine, nodeId: both.state.running?.node ?? '', answer, bounds });
    for (const toolCallId of both.state.openCalls)
      for (const runId of both.verdict.calls[toolCallId]?.runs.slice(-1) ?? [])
        both.apply({
          type: 'RecordToolResult',
          carrier: mine,
          toolCallId,
          runId,
          isError: false,
          content: { text: 'r' },
          bounds,
        });
  }
}

/** Any conversation at rest can be deleted, once those that grow from it are; then it is over, whatever comes. */
function theEnd(both: Both): void {
  const remove = (deletedDependents: readonly string[]) =>
    both.apply({ type: 'DeleteConversation', keyId: 'k', deletedDependents });
  const { dependents } = both.state;
  if (dependents.length > 0) expect(remove(dependents.slice(1))).toMatchObject({ ok: false, refusal: { code: 'has_dependents', conversationIds: dependents.slice(0, 1) } }); // prettier-ignore
  expect(remove(dependents)).toMatchObject({ ok: true, events: [{ type: 'ConversationDeleted' }, { type: 'KeyDestroyed', data: { keyId: 'k' } }] }); // prettier-ignore
  expect(both.verdict.life).toBe('over');
  expect(remove([])).toMatchObject({ ok: true, events: [] });
  const late = {
    carrier: 'c',
    nodeId: 'n',
    answer: { status: 'failed', reason: 'timeout', detail: '' },
    bounds,
  } as const;
  for (const command of [{ type: 'ClearConversation' }, { type: 'RecordAnswer', ...late }] as const)
    expect(both.apply(command)).toEqual({ ok: false, refusal: { code: 'deleted' } });
}

describe('random histories', () => {
  it('hold the invariants, keep their keys, switch where they must, and come to rest', () => {
    fc.assert(
      fc.property(history, ({ whenBusy, moves }) => {
        const both = new Both(whenBusy);
        for (const [n, m] of moves.entries()) {
          const { verdict } = both;
          const command = commandOf(both.state, verdict, m, n);
          const decision = both.apply(command, m.cut);
          keyIsKept(verdict, command, decision);
          pastStays(verdict, command, decision);
          busyStays(both.state);
          if (decision.ok && !decision.known && command.type === 'SwitchBranch')
            expect(both.state.head).toBe(expectedHead(verdict, command.nodeId));
        }
        drain(both);
        const next = { turnId: 'next', carrier: 'last', question: 'q', assistantVersion: 1, at: '2026-11-29T00:00:00.000Z', zone: 'UTC', bounds }; // prettier-ignore
        const started = both.apply({ type: 'StartTurn', ...next });
        expect(started).toMatchObject({ ok: true, facts: expect.any(Number) });
        drain(both);
        theEnd(both);
      }),
      { numRuns: 200 },
    );
  });

  it('fold to the same state from a snapshot at any place', () => {
    fc.assert(
      fc.property(history, fc.nat(80), ({ whenBusy, moves }, at) => {
        const both = new Both(whenBusy);
        let restored = both.state;
        for (const [n, m] of moves.entries()) {
          const before = both.state;
          const decision = both.apply(commandOf(before, both.verdict, m, n), m.cut);
          if (n === at) restored = deserialize(JSON.parse(JSON.stringify(serialize(before)))) as ActiveConversation;
          if (n < at || !decision.ok) continue;
          const events = m.cut && decision.facts > 0 ? decision.events.slice(0, decision.facts) : decision.events;
          for (const event of events)
            restored = evolve(restored, { ...event, revision: BigInt(restored.revision + 1) }) as ActiveConversation;
          expect(serialize(restored)).toEqual(serialize(both.state));
        }
      }),
      { numRuns: 40 },
    );
  });
});
