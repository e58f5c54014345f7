import type { AssertedContent, ConversationCommand } from '@palimpsest/conversation';
import { fieldOf, type Statement } from '@palimpsest/dialogue-state';
import { goldOf, sorted } from '@palimpsest/dialogue-state/testing';
import { randomUUID } from 'node:crypto';
import type { GoldBranches, ScriptedTurn } from './gold-branches';
import { blocksIn, responseOf } from './texts';
import type { Process, World } from './world';

const CARRIER = 'carrier';
const BOUNDS = { maxRounds: 4, approvalsExpireAt: '2026-12-31T00:00:00.000Z' };
const USAGE = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
const CALL = { tool: 'tool', effect: 'read', approval: false, argumentsDigest: 'd' } as const;

const SUMMARY = 'What was said before.';

type Branch = 'own' | 'other';

interface ToldTurn {
  readonly turnId: string;
  /** Its last node. */
  readonly end: string;
  readonly truth: ScriptedTurn['truth'];
}

/**
 * Tells both branches of a dialogue through the write side, and holds every request and every state against what is true on its branch alone:
 * up to the cut, on with canaries, back by an edit of the turn at the cut, and on as it was.
 */
export class GoldTelling {
  private readonly conversationId = randomUUID();
  private readonly told: Record<Branch, ToldTurn[]> = { own: [], other: [] };

  constructor(
    private readonly world: World,
    private readonly branches: GoldBranches,
    private readonly assistantVersion: number,
  ) {}

  async tell(process: Process): Promise<void> {
    const { cut, own, other } = this.branches;
    await this.world.begin(process, this.conversationId, 'refuse', { assistantVersion: this.assistantVersion });
    for (const turn of own.slice(0, cut)) this.told.own.push(await this.turn(process, 'own', turn));
    this.told.other.push(...this.told.own);
    for (const turn of other.slice(cut, -1)) this.told.other.push(await this.turn(process, 'other', turn));
    const edited = this.told.other[cut]?.turnId;
    for (const [at, turn] of own.slice(cut, -1).entries())
      this.told.own.push(await this.turn(process, 'own', turn, at === 0 ? edited : undefined));
  }

  /**
   * A question at the end of either branch: to a process that knows only the log, and its read models as far as they are. In every other
   * dialogue a summary stands for all that was said on the branch.
   */
  async switchBack(fresh: Process): Promise<void> {
    for (const branch of ['other', 'own'] as const) {
      const end = this.told[branch].at(-1)?.end ?? '';
      await this.apply(fresh, { type: 'SwitchBranch', nodeId: end });
      const summarises = this.assistantVersion % 2 === 0;
      if (summarises) await this.summarise(fresh, branch, end);
      const last = await this.turn(fresh, branch, this.branches[branch].at(-1) as ScriptedTurn);
      expect(this.keepsApart(branch, last.end).includes(SUMMARY)).toBe(summarises);
      this.told[branch].push(last);
    }
  }

  /** The state at the end of every turn, in whatever order they are asked for. */
  async statesHold(process: Process): Promise<void> {
    for (const { end, truth } of [...this.told.own, ...this.told.other].reverse())
      await this.stateHolds(process, end, truth);
  }

  private async turn(process: Process, branch: Branch, turn: ScriptedTurn, edits?: string): Promise<ToldTurn> {
    const turnId = randomUUID();
    const { question, moment } = turn;
    const asked = { turnId, carrier: CARRIER, question, assistantVersion: this.assistantVersion, ...moment, bounds: BOUNDS }; // prettier-ignore
    await this.apply(process, edits ? { type: 'EditTurn', of: edits, ...asked } : { type: 'StartTurn', ...asked });
    const first = `${turnId}-1`;
    this.requestHolds(branch, first, turn);
    const [early, late] = halves(turn.statements);
    for (const statement of early) await this.say(process, statement, first, turnId);
    // Some turns have a tool's round in the middle: what clients say goes to the node that runs.
    const end = turn.statements.length % 3 === 1 ? await this.round(process, first) : first;
    if (end !== first) this.requestHolds(branch, end, turn);
    for (const statement of late) await this.say(process, statement, first, turnId);
    await this.answer(process, end, responseOf('openai', end, [], turn.answer));
    await this.stateHolds(process, end, turn.truth);
    return { turnId, end, truth: turn.truth };
  }

  private async summarise(process: Process, branch: Branch, parent: string): Promise<void> {
    const work = { nodeId: randomUUID(), carrier: CARRIER };
    await this.apply(process, {
      type: 'RequestSummary',
      ...work,
      parent,
      instruction: 'Summarise.',
      segment: 'window',
    });
    const response = responseOf('openai', work.nodeId, [], `${SUMMARY} ${this.branches.marks[branch][0]}`);
    const answer = { status: 'succeeded', toolCalls: [], usage: USAGE, stopReason: 'end', response } as const;
    await this.apply(process, { type: 'RecordWork', ...work, answer });
    this.keepsApart(branch, work.nodeId);
  }

  private async round(process: Process, nodeId: string): Promise<string> {
    await this.answer(process, nodeId, responseOf('openai', nodeId, [CALL], ''), [CALL]);
    const state = await process.state(this.conversationId);
    const [toolCallId = ''] = state.openCalls;
    const [runId = ''] = state.toolCalls.get(toolCallId)?.runs ?? [];
    const result = { carrier: CARRIER, toolCallId, runId, isError: false, content: { text: 'result' }, bounds: BOUNDS };
    await this.apply(process, { type: 'RecordToolResult', ...result });
    return nodeId.replace(/1$/, '2');
  }

  private async answer(process: Process, nodeId: string, response: unknown, toolCalls: readonly (typeof CALL)[] = []) {
    const answer = { status: 'succeeded', toolCalls, usage: USAGE, stopReason: 'end', response } as const;
    await this.apply(process, { type: 'RecordAnswer', carrier: CARRIER, nodeId, answer, bounds: BOUNDS });
  }

  /** A user's own words stand with the node that sent them; a client names no node. */
  private async say(process: Process, statement: Statement, first: string, turnId: string): Promise<void> {
    const { type, field: name, by, revision: _, ...content } = statement;
    const field = fieldOf(this.branches.schema, name);
    if (!field) throw new Error(`${name} is no field.`);
    const said = await process.statements.routing(this.conversationId, field, {
      ...{ by, content, turnId },
    });
    const placed = { ...said, ...(by === 'user' && { nodeId: first }) };
    await this.apply(
      process,
      type === 'StateAsserted'
        ? { type: 'AssertState', statement: placed, content: content as AssertedContent }
        : { type: 'RetractState', statement: placed, content: content },
    );
  }

  private requestHolds(branch: Branch, nodeId: string, { question, block }: ScriptedTurn): void {
    const { dialogueId } = this.branches;
    const blocks = blocksIn(this.keepsApart(branch, nodeId));
    expect({ dialogueId, question, branch, blocks }).toEqual({ dialogueId, question, branch, blocks: [block] });
  }

  /** The bytes of a request, which hold nothing of the other branch. */
  private keepsApart(branch: Branch, nodeId: string): Buffer {
    const bytes = this.world.sent.get(nodeId) ?? Buffer.alloc(0);
    const { dialogueId, marks, cut } = this.branches;
    const foreign = marks[branch === 'own' ? 'other' : 'own'].filter((mark) => bytes.includes(mark));
    expect({ dialogueId, branch, nodeId, foreign }).toEqual({ dialogueId, branch, nodeId, foreign: [] });
    // Without this, a search that finds nothing anywhere would pass for a proof.
    if (this.told[branch].length > cut) expect(bytes.includes(marks[branch][0] ?? '?')).toBe(true);
    return bytes;
  }

  private async stateHolds(process: Process, nodeId: string, truth: ScriptedTurn['truth']): Promise<void> {
    const { conversationId } = this;
    const { revision } = await process.state(conversationId);
    const state = await process.states.at({ conversationId, nodeId, revision: BigInt(revision) });
    const { dialogueId, schema } = this.branches;
    expect([dialogueId, nodeId, goldOf(state, schema)]).toEqual([dialogueId, nodeId, sorted(truth)]);
  }

  private async apply(process: Process, command: ConversationCommand): Promise<void> {
    const handled = await process.apply(this.conversationId, command);
    if (!handled.ok) throw new Error(`${command.type} was refused: ${JSON.stringify(handled.refusal)}`);
    if (handled.more) throw handled.more.cause;
  }
}

const halves = <T>(all: readonly T[]): readonly [readonly T[], readonly T[]] => {
  const middle = Math.ceil(all.length / 2);
  return [all.slice(0, middle), all.slice(middle)];
};
