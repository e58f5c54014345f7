import type { ActiveConversation, ConversationCommand, ItemTagging } from '@palimpsest/conversation';
import { stateLimits } from '@palimpsest/dialogue-state';
import { RequestImpossible } from '@palimpsest/turns';
import fc from 'fast-check';
import { commandOf, history, type Move } from '../protocol/moves';
import { historyRuns } from '../support/history-runs';
import { obey } from './laws';
import { LineageCheck } from './lineage-check';
import { blocksIn, marksIn, responseOf, resultText } from './texts';
import { budgetText, doubtText } from './state-mirror';
import { BUDGET, type Process, ProcessEnds, VERSIONS, World } from './world';

/**
 * Random histories through the real write side: rules, assembly, renderers, sealing, log and replay, of two processes that share nothing but
 * the log, die at any command and begin anew. Invariants 3, 5, 6 and 7 of the design (`laws.ts`), 10, and I7 of the protocol, for every request,
 * with edits, switches, clears, folds, compactions, summaries of runs and extractions between them, and requests sent again behind them.
 */
class Told {
  private readonly processes: [Process, Process];
  private readonly conversations = ['a'];
  /** Of the conversation from which the other one grows. */
  private readonly sourceEnds = new Map<string, number>();

  private constructor(
    private readonly world: World,
    private readonly whenBusy: 'refuse' | 'queue',
  ) {
    this.processes = [world.process(), world.process()];
  }

  static async begin(whenBusy: 'refuse' | 'queue'): Promise<Told> {
    const world = await World.create();
    const told = new Told(world, whenBusy);
    await world.begin(told.processes[0], 'a', whenBusy);
    return told;
  }

  async tell(moves: readonly Move[]): Promise<void> {
    for (let n = 0; n < moves.length; n += 1) {
      const here = moves[n] as Move;
      const beside = here.pick % 5 === 0 ? moves[n + 1] : undefined;
      if (here.pick % 11 === 0) await this.die(here.pick % 2);
      if (here.pick % 13 === 0) await this.grow();
      // Two clients at once, each at a process of its own.
      await Promise.all([this.move(here, n, 0), ...(beside ? [this.move(beside, n + 1, 1)] : [])]);
      if (beside) n += 1;
      await this.look();
    }
  }

  /** Whatever had happened: the next question is asked and answered from its own path. */
  async end(): Promise<void> {
    await this.die(0);
    const [process] = this.processes;
    for (const conversationId of this.conversations) {
      for (const turnId of unfinished(await process.state(conversationId)))
        await process.apply(conversationId, { type: 'CancelTurn', turnId });
      const next = {
        turnId: `${conversationId}-next`,
        carrier: 'last',
        assistantVersion: 1,
        at: '2026-11-30T00:00:00.000Z',
        zone: 'UTC',
      };
      const bounds = { maxRounds: 3, approvalsExpireAt: '2026-12-01T00:00:00.000Z' };
      const asked = { type: 'StartTurn', ...next, question: 'Q<next>', bounds } as const;
      expect(await process.apply(conversationId, asked)).toMatchObject({ ok: true });
    }
    await this.look();
    await this.statesHold();
    expect(this.world.sent.has('a-next-1')).toBe(true);
    // Once more, from the log alone, with all that came after.
    for (const [nodeId, bytes] of this.world.sent) {
      await this.replays(nodeId, bytes);
      await this.coverageHolds(nodeId);
    }
    await this.lineagesHold();
    await this.reissuesHold();
    await Promise.all(this.processes.map((one) => one.close()));
  }

  private async die(which: number): Promise<void> {
    await this.processes[which]?.close();
    this.processes[which] = this.world.process();
  }

  /** Another conversation begins at the head of the first one. */
  private async grow(): Promise<void> {
    if (this.conversations.length > 1) return;
    const [process] = this.processes;
    const { head } = await process.state('a');
    if (head === null) return;
    const attached = await process.apply('a', { type: 'AttachDependent', conversationId: 'b', nodeId: head });
    if (!attached.ok) return;
    const source = { conversationId: 'a', nodeId: head, revision: Number(attached.revision) };
    await this.world.begin(process, 'b', this.whenBusy, { source });
    this.conversations.push('b');
    this.sourceEnds.set('a', source.revision);
    await this.look();
  }

  private async move(move: Move, n: number, which: number): Promise<void> {
    const process = this.processes[which] as Process;
    const conversationId = this.conversations[move.pick % this.conversations.length] as string;
    const state = await process.state(conversationId);
    const drawn = commandOf(state, orWork(state, move), `${conversationId}${n}`);
    const command = await this.withState(process, conversationId, this.withTexts(state, drawn, move), move);
    if (move.cut) return process.apply(conversationId, command, true).then(() => undefined, unlessItEnds);
    // A call outside a turn has no fact: where its request can't be made, nothing is stored.
    const handled = await process.apply(conversationId, command).catch(unlessImpossible);
    if (!handled?.ok || !handled.more) return;
    // What the engine does where the next request can't be made at all: it is too large.
    const carrier =
      handled.state.status === 'active' && handled.state.running?.phase === 'carried'
        ? handled.state.running.carrier
        : '';
    await process.apply(conversationId, {
      type: 'FailTurn',
      carrier,
      reason: 'request_too_large',
      detail: String(handled.more.cause),
    });
  }

  /** What is said of the budget: one of few values, so that some are said again. */
  private async withState(
    process: Process,
    conversationId: string,
    command: ConversationCommand,
    { pick, yes }: Move,
  ): Promise<ConversationCommand> {
    const value = 1_000 * (1 + (pick % 7));
    switch (command.type) {
      case 'StartTurn':
      case 'EditTurn': {
        const texts = [...(yes ? [budgetText(value)] : []), ...(pick % 3 === 0 ? [doubtText(value + 1)] : [])];
        return { ...command, question: [command.question, ...texts].join('\n') };
      }
      case 'AssertState':
      case 'RetractState': {
        const content = command.type === 'AssertState' ? { value } : {};
        const said = await process.statements.routing(conversationId, BUDGET, { by: 'client', content });
        const statement = { ...said, nodeId: command.statement.nodeId };
        return { ...command, statement, content } as ConversationCommand;
      }
      case 'RecordWork': {
        const { answer } = command;
        if (answer.status === 'failed' || !answer.extracted) return command;
        const [{ nodeId }] = answer.extracted.tags as [ItemTagging];
        const said = await process.statements.routing(conversationId, BUDGET, { by: 'user', content: { value } });
        const statement = { type: 'StateAsserted', data: { ...said, nodeId }, content: { value } } as const;
        return { ...command, answer: { ...answer, extracted: { ...answer.extracted, statements: [statement] } } };
      }
      default:
        return command;
    }
  }

  private withTexts(state: ActiveConversation, command: ConversationCommand, move: Move): ConversationCommand {
    const { mirror } = this.world;
    const assistantVersion = 1 + (move.pick % VERSIONS.length);
    switch (command.type) {
      case 'StartTurn':
      case 'EditTurn':
        return { ...command, assistantVersion, question: `Q<${command.turnId}>` };
      case 'RegenerateTurn':
        return {
          ...command,
          assistantVersion,
          question: mirror.knowsQuestion(command.of) ? mirror.questionOf(command.of) : '',
        };
      case 'StartQueuedTurn':
        return { ...command, question: mirror.knowsQuestion(command.turnId) ? mirror.questionOf(command.turnId) : '' };
      case 'StartCompaction':
      case 'RequestTransform':
      case 'RequestExtraction':
        return { ...command, instruction: `I<${command.nodeId}>` };
      case 'RequestSummary':
        return { ...command, instruction: `I<${command.nodeId}>`, ...(move.pick % 4 > 0 && nextRun(state, move)) };
      case 'TagItems': {
        const tag = (['fact', 'discarded', 'chit-chat', 'repeated confirmation'] as const)[move.pick % 4] ?? 'fact';
        const item = (['sent/0', 'received/0', 'sent/1', 'received/1'] as const)[Math.floor(move.pick / 4) % 4] ?? 'sent/0'; // prettier-ignore
        return { ...command, tags: command.tags.map((tagging) => ({ ...tagging, tag, item })) };
      }
      case 'RecordAnswer': {
        if (command.answer.status === 'failed') return command;
        const node = state.nodes.get(command.nodeId);
        const version = node?.kind === 'turn' ? state.turns.get(node.turnId)?.start?.assistantVersion : 1;
        const response = responseOf(VERSIONS[(version ?? 1) - 1] ?? 'openai', command.nodeId, command.answer.toolCalls);
        return { ...command, answer: { ...command.answer, response } };
      }
      case 'RecordWork': {
        if (command.answer.status === 'failed') return command;
        return { ...command, answer: { ...command.answer, response: responseOf('openai', command.nodeId, []) } };
      }
      case 'RecordToolResult':
        return { ...command, content: { text: resultText(command.toolCallId, move.pick % 3 > 0) } };
      default:
        return command;
    }
  }

  /** Every request that was made since, against the path that it stands on. */
  private async look(): Promise<void> {
    const known = new Set(this.world.mirror.nodes.keys());
    for (const conversationId of this.conversations) await this.world.look(conversationId);
    for (const [nodeId, { answer }] of this.world.mirror.nodes) {
      if (known.has(nodeId)) continue;
      const bytes = this.world.sent.get(nodeId);
      if (!bytes) throw new Error(`The request of ${nodeId} stands in the log, and nobody was told to send it.`);
      expect(answer).toBeNull();
      await this.holds(nodeId, bytes);
    }
    expect(this.world.unpaired).toBe(0);
  }

  /** O03: it begins with all of the request before, or with less of it and a reason; what it names is really the same. */
  private growsFrom(nodeId: string, bytes: Buffer): void {
    const { parent, origin, prefix } = this.world.mirror.nodeOf(nodeId);
    const before = this.world.sent.get(parent ?? origin ?? '');
    const shared = prefix?.bytes ?? 0;
    if (!before) return expect(shared).toBe(0);
    expect(bytes.subarray(0, shared).equals(before.subarray(0, shared))).toBe(true);
    expect(prefix?.brokenBy?.event).not.toBe('unexplained');
    // The end of the list of messages always moves on.
    if (!prefix?.brokenBy) expect(shared).toBe(before.length - ']}'.length);
  }

  private async holds(nodeId: string, bytes: Buffer): Promise<void> {
    this.growsFrom(nodeId, bytes);
    const { mirror, states } = this.world;
    const { conversationId } = mirror.nodeOf(nodeId);
    const replay = await this.world.replay(nodeId);
    obey({
      ...{ nodeId, bytes, replay: { ...replay, bytes: Buffer.from(replay.bytes) } },
      ...{ expected: mirror.expected(nodeId), lineage: mirror.lineageOf(nodeId) },
      block: states.expectedBlock(nodeId),
      said: states.saidOnWayTo(conversationId, nodeId),
    });
  }

  /** Which requests rest on what: as the bytes of all of them say. */
  private async lineagesHold(): Promise<void> {
    const { world } = this;
    const { mirror, sent } = world;
    const { states } = this.processes[0];
    const check = await LineageCheck.of({ conversations: this.conversations, mirror, sent, log: world.log(), states });
    await check.holds();
  }

  /** A request that is sent again is the very bytes, and made anew for another model it holds what they hold. Nothing moves by it. */
  private async reissuesHold(): Promise<void> {
    const { mirror, sent } = this.world;
    const [process] = this.processes;
    for (const [at, { nodeId, conversationId }] of [...mirror.nodes.values()].entries()) {
      const summarised = [...mirror.lineageOf(nodeId)].some((id) => mirror.nodeOf(id).kind === 'summary');
      if (at % 3 && !summarised) continue;
      const renderedFor = at % 2 || summarised ? { provider: 'anthropic', name: 'claude' } : undefined;
      const before = await process.state(conversationId);
      const again = { nodeId: `again-${nodeId}`, carrier: 'last', of: nodeId, renderedFor };
      if (!(await process.apply(conversationId, { type: 'ReissueCall', ...again })).ok) continue;
      await this.world.look(conversationId);
      const [first, bytes] = [nodeId, again.nodeId].map((id) => sent.get(id) as Buffer) as [Buffer, Buffer];
      if (!renderedFor) expect(bytes.equals(first)).toBe(true);
      const replay = await this.world.replay(again.nodeId);
      obey({
        ...{ nodeId: again.nodeId, bytes, replay: { ...replay, bytes: Buffer.from(replay.bytes) } },
        ...{ expected: mirror.expected(nodeId), lineage: new Set([...mirror.lineageOf(nodeId), again.nodeId]) },
        block: blocksIn(first)[0] ?? null,
        said: this.world.states.saidOnWayTo(conversationId, nodeId),
      });
      const { head, running } = await process.state(conversationId);
      expect([head, running]).toEqual([before.head, before.running]);
    }
  }

  /** Every node has what was said on its own way and nothing else, by all that was said until now, however late. */
  private async statesHold(): Promise<void> {
    const [process] = this.processes;
    for (const { nodeId, conversationId } of this.world.mirror.nodes.values()) {
      const { revision } = await process.state(conversationId);
      const { fields } = await process.states.at({ conversationId, nodeId, revision: BigInt(revision) });
      const held = fields.flatMap(({ values }) => values).at(-1);
      const found = held ? [held, ...held.superseded].map(({ value }) => value) : [];
      expect(found).toEqual(this.world.states.valuesAt(conversationId, nodeId).slice(0, 1 + stateLimits.keptPeriods));
    }
  }

  /** Every item of the lineage has one value; what is said to stand in the request stands in its bytes, and what is not does not. */
  private async coverageHolds(nodeId: string): Promise<void> {
    const { mirror } = this.world;
    const covered = await this.world.coverage(nodeId, this.sourceEnds);
    expect(covered.map(({ item }) => `${item.nodeId} ${item.place}`)).toEqual(mirror.items(nodeId));
    const stands = (kind: string) => covered.filter(({ coverage }) => coverage.kind === kind).map(({ item }) => item);
    const verbatim = stands('verbatim').map(({ text }) => text.text);
    const bytes = this.world.sent.get(nodeId)?.toString('utf8') ?? '';
    for (const text of verbatim) expect(bytes.includes(text) || bytes.includes(JSON.stringify(text).slice(1, -1))).toBe(true); // prettier-ignore
    const segments = new Set(covered.flatMap(({ coverage }) => coverage.kind === 'summarised' ? coverage.segment : [])); // prettier-ignore
    const told = [...verbatim, ...[...segments].map((summary) => mirror.nodeOf(summary).answer)].join(' ');
    const folded = stands('folded').map(({ toolCallId }) => `R<${toolCallId}>`);
    expect(mirror.expected(nodeId)).toContainEqual({ marks: marksIn(told), folded: new Set(folded) });
    const compaction = mirror.compactionBefore(nodeId);
    for (const { item, coverage } of covered) {
      const why = `${item.nodeId} ${item.place} in ${nodeId}: ${JSON.stringify(coverage)}`;
      if (coverage.kind === 'compacted') expect([why, coverage.node]).toEqual([why, compaction]);
      expect(why).not.toContain('unexplained');
    }
  }

  private async replays(nodeId: string, bytes: Buffer): Promise<void> {
    const replay = await this.world.replay(nodeId);
    expect(replay.verified).toBe(true);
    expect(Buffer.from(replay.bytes).equals(bytes)).toBe(true);
  }
}

/** Calls outside a turn are rare among random moves: where none runs they are asked for, and answered, more often. */
function orWork({ running, nodes }: ActiveConversation, move: Move): Move {
  // A request that is sent again grows from none before; it has its own law, at the end.
  if (move.kind === 'ReissueCall') return { ...move, kind: 'Fitting' };
  const out = [...nodes].some(([, node]) => node.kind !== 'turn' && node.status === 'pending');
  if (out && move.pick % 2 === 0) return { ...move, kind: 'RecordWork' };
  if (running || move.pick % 3 > 0) return move;
  const rare = move.yes ? 'StartCompaction' : 'RequestTransform';
  const kinds = ['RequestSummary', 'RequestSummary', 'RequestExtraction', rare] as const;
  return { ...move, kind: kinds[Math.floor(move.pick / 3) % kinds.length] ?? rare };
}

/** A run of the way to the head that is not summarised yet, or another one than that. */
function nextRun({ nodes, head, running }: ActiveConversation, { pick, yes }: Move) {
  const way: string[] = [];
  for (let id: string | null = head; id !== null; id = nodes.get(id)?.parent ?? null) way.unshift(id);
  const made = [...nodes].filter(([, node]) => node.kind === 'summary' && node.segment && node.status === 'succeeded');
  const last = made.filter(([, { parent }]) => way.includes(parent ?? '')).at(-1 - (pick % 9 === 0 ? 1 : 0));
  const ends = way.slice(way.indexOf(last?.[1].parent ?? '') + 1).filter((id) => {
    const node = nodes.get(id);
    return node?.kind === 'turn' && node.toolCallIds.length === 0 && node.turnId !== running?.turnId;
  });
  const parent = yes ? ends.at(-1) : ends[pick % (ends.length || 1)];
  return { segment: 'window', ...(parent !== undefined && { parent }), ...(last && { continues: last[0] }) } as const;
}

function unlessItEnds(error: unknown): void {
  if (!(error instanceof ProcessEnds)) throw error;
}

function unlessImpossible(error: unknown): void {
  if (!(error instanceof RequestImpossible)) throw error;
}

const unfinished = ({ running, queue }: ActiveConversation): readonly string[] => [
  ...queue.map(({ turnId }) => turnId),
  ...(running ? [running.turnId] : []),
];

describe('random histories, told by two processes that die', () => {
  it('invariants 3, 5, 6, 7, 8 and 10, P02, O03: every request holds its own path, whole and paired and nothing else, grows from the one before, and replays to the same bytes for ever; a lineage tells what the bytes hold, and coverage what became of each item', async () => {
    await fc.assert(
      fc.asyncProperty(history, async ({ whenBusy, moves }) => {
        const told = await Told.begin(whenBusy);
        await told.tell(moves);
        await told.end();
      }),
      historyRuns,
    );
  }, 600_000);
});
