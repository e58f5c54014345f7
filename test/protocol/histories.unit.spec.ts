import {
  absent,
  type ActiveConversation,
  carrierOf,
  type ConversationCommand,
  decide,
  type Decision,
  type DeletedConversation,
  deserialize,
  type DraftEvent,
  evolve,
  serialize,
} from '@palimpsest/conversation';
import fc from 'fast-check';
import { agree } from './agree';
import { demand, EMPTY, judge, type Verdict } from './judge';
import { historyRuns } from '../support/history-runs';
import { bounds, commandOf, history, usage } from './moves';
import { translate } from './vocabulary';

/**
 * Random commands, most of them sensible and some not, against the judge of this folder. It is a fold of its own and throws where an
 * invariant breaks: 1, 2 and 4 of the design, I1, I2, I3, I4, I6 and I7 of the protocol.
 */
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
      const { toolCallIds: _, headAt: _moves, reason: _why, judged: _verdict, ...kept } = node;
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
  if (command.type === 'ReissueCall') return;
  const named = 'of' in command ? command.of : command.type === 'SwitchBranch' ? command.nodeId : undefined;
  if (named === undefined || !verdict.past.includes(named)) return;
  if (decision.ok) expect(decision.known).toBeDefined();
}

/** While a turn runs, waits or is queued there is no clear and no delete. */
function busyStays(state: ActiveConversation): void {
  if (!state.running && !state.queue.length) return;
  for (const command of [
    { type: 'ClearConversation' },
    { type: 'StartCompaction', nodeId: 'k', carrier: 'k', instruction: 'i', reason: 'demand' },
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
          const command = commandOf(both.state, m, n);
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
      historyRuns,
    );
  }, 600_000);

  it('fold to the same state from a snapshot at any place', () => {
    fc.assert(
      fc.property(history, fc.nat(80), ({ whenBusy, moves }, at) => {
        const both = new Both(whenBusy);
        let restored = both.state;
        for (const [n, m] of moves.entries()) {
          const before = both.state;
          const decision = both.apply(commandOf(before, m, n), m.cut);
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
