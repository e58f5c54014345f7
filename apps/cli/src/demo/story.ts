import {
  answersAnew,
  answersFromItsTool,
  check,
  type Check,
  forgets,
  isTheSameTree,
  remembers,
  replays,
  sha256,
  showsTheBranch,
  standsInTheTree,
  staysOnItsBranch,
} from './checks';
import type { Api, Turn } from './client';
import { type Figure, figuresIn } from './figures';
import { type Narrator, wrap } from './narrator';
import { type Asked, type Branches, type Call, markOf, type Switched } from './record';

const QUESTION = 'Who were our ten largest customers by sales last month?';
const CORRECTED = 'Who were our ten largest customers by sales last month, including overseas subsidiaries?';

const ASSISTANT = {
  name: 'Sales',
  systemPrompt: 'You answer questions about sales. Take every figure from the database.',
  model: { provider: 'simulated', name: 'simulated' },
  tools: [{ type: 'builtin', name: 'sql' }],
};

/** What the demo found, for machines. */
export interface Findings {
  readonly steps: { readonly name: string; readonly ms: number }[];
  readonly checks: Check[];
  readonly figures: { before?: readonly Figure[]; after?: readonly Figure[] };
  readonly branches: { readonly mark: string; readonly question: string; readonly nodes: readonly string[] }[];
  readonly digests: {
    readonly nodeId: string;
    readonly branch: string;
    readonly length: number;
    readonly recorded: string;
    readonly computed: string;
    readonly verified: boolean;
  }[];
}

export const nothingYet = (): Findings => ({ steps: [], checks: [], figures: {}, branches: [], digests: [] });

/** Asks, corrects the question, compares the branches, and replays every call. What it finds is in `findings` as soon as it is found. */
export class Story {
  constructor(
    private readonly client: Api,
    private readonly narrator: Narrator,
    private readonly findings: Findings,
  ) {}

  async tell(): Promise<void> {
    const { client, findings } = this;
    const conversationId = await this.step('Start a conversation', async () => {
      const { assistantId } = await client.createAssistant(ASSISTANT);
      return (await client.startConversation(assistantId)).conversationId;
    });
    const before = await this.step('Ask', async () =>
      this.seen(conversationId, QUESTION, await client.ask(conversationId, QUESTION)),
    );
    findings.figures.before = before.figures;
    this.showAnswer('Ask', 'The', before);

    const after = await this.step('Correct the question', async () =>
      this.seen(conversationId, CORRECTED, await client.edit(conversationId, before.turn.turnId, CORRECTED)),
    );
    findings.figures.after = after.figures;
    this.showAnswer('Correct the question', 'The new', after);
    this.hold('Every figure of the new answer is new', answersAnew(before, after));

    this.showWhatTheModelSaw(before, after);
    const switches = await this.step('Switch back and forth', () =>
      this.switchBackAndForth(conversationId, before, after),
    );
    this.showSwitches(switches, [before, after]);
    await this.step('Replay every call', () => this.replayAll([before, after]));
  }

  private async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await work();
    } finally {
      this.findings.steps.push({ name, ms: Math.round(performance.now() - began) });
    }
  }

  private hold(name: string, problems: readonly string[]): void {
    const held = check(name, problems);
    this.findings.checks.push(held);
    this.narrator.check(held);
  }

  private async seen(conversationId: string, question: string, turn: Turn): Promise<Asked> {
    // Once the tree has the turn's end, so have its nodes.
    await this.client.tree(conversationId, turn.revision);
    const calls = await Promise.all(turn.nodes.map((id) => this.call(id)));
    const nodes = calls.map(({ node }) => node);
    const [toolCall] = nodes.flatMap(({ received }) => received.filter((item) => item.type === 'tool_call'));
    const [toolResult] = nodes.flatMap(({ sent }) => sent.filter((item) => item.type === 'tool_result'));
    const { query = '' } = JSON.parse(toolCall?.arguments ?? '{}') as { query?: string };
    const figures = figuresIn(turn.answer ?? '');
    return { question, turn, nodes, calls, statement: query, figures, toolFigures: figuresIn(toolResult?.text ?? '') };
  }

  private async call(nodeId: string): Promise<Call> {
    const [node, replay, bytes] = await Promise.all([
      this.client.node(nodeId),
      this.client.replay(nodeId),
      this.client.replayBytes(nodeId),
    ]);
    return { node, replay, bytes };
  }

  private showAnswer(title: string, which: string, asked: Asked): void {
    const { narrator } = this;
    narrator.chapter(title);
    narrator.say(`“${asked.question}”`, '', 'The model has the tool sql run:');
    narrator.aside(...wrap(asked.statement, 100).map((line) => `  ${line}`));
    narrator.say('', 'and answers:');
    const width = Math.max(...asked.figures.map(({ customer }) => customer.length), 0);
    for (const [index, { customer, sales }] of asked.figures.entries())
      narrator.say(`${String(index + 1).padStart(4)}. ${customer.padEnd(width)}  ${money(sales).padStart(12)}`);
    narrator.say('');
    this.hold(`${which} answer holds the ten figures of its tool’s result`, answersFromItsTool(asked));
  }

  private showWhatTheModelSaw(before: Asked, after: Asked): void {
    const bytes = after.calls.reduce((sum, call) => sum + call.bytes.length, 0);
    this.narrator.chapter('What the model saw for the new answer');
    this.narrator.say(`${after.calls.length} requests with ${count(bytes)} bytes, as they went over the wire.`);
    this.hold(`None of the ${before.figures.length} old figures is in the new requests`, forgets(before, after));
    this.hold('The same search finds every old figure in the request of its own branch', remembers(before));
    this.hold('No byte of the new requests comes from a node of the other branch', staysOnItsBranch(after));
  }

  private async switchBackAndForth(
    conversationId: string,
    before: Asked,
    after: Asked,
  ): Promise<{
    readonly branches: Branches;
    readonly switches: readonly Switched[];
    readonly afterwards: Branches['tree'];
  }> {
    const { client } = this;
    const tree = await client.tree(conversationId, after.turn.revision);
    const corrected = await client.transcript(conversationId, after.turn.revision);
    const switches: Switched[] = [];
    let { revision } = after.turn;
    for (const [to, mark] of [
      [before, '1/2'],
      [after, '2/2'],
      [before, '1/2'],
      [after, '2/2'],
    ] as const) {
      // The first node of the branch: the head goes to the branch's end by itself.
      const moved = await client.moveHead(conversationId, to.turn.nodes[0] ?? '');
      revision = moved.revision;
      switches.push({ to, mark, moved, transcript: await client.transcript(conversationId, revision) });
    }
    const first = switches[0] as Switched;
    const afterwards = await client.tree(conversationId, revision);
    return { branches: { tree, transcripts: [first.transcript, corrected] }, switches, afterwards };
  }

  private showSwitches(
    { branches, switches, afterwards }: Awaited<ReturnType<Story['switchBackAndForth']>>,
    asked: readonly Asked[],
  ): void {
    const { narrator, findings } = this;
    narrator.chapter('The tree');
    for (const [index, { question, turn, nodes }] of asked.entries()) {
      const transcript = branches.transcripts[index];
      const mark = transcript ? markOf(transcript) : 'none';
      findings.branches.push({ mark, question, nodes: turn.nodes });
      narrator.say(`${narrator.paint('bold', mark)}  “${question}”`);
      for (const node of nodes) {
        const head = branches.tree.head === node.id ? '  <- head' : '';
        const does = node.received.some(({ type }) => type === 'tool_call') ? 'calls the tool sql' : 'answers';
        narrator.say(`     ${node.id}  ${does}${narrator.paint('bold', head)}`);
      }
    }
    this.hold('Both questions stand at the same place, as branches 1/2 and 2/2', standsInTheTree(branches, asked));

    narrator.chapter('Switch back and forth');
    for (const [index, switched] of switches.entries()) {
      const [largest] = figuresIn(switched.transcript.bubbles[1]?.text ?? '');
      narrator.say(`to ${switched.mark}: the head is ${switched.moved.head}`);
      narrator.say(
        `        the transcript says that the largest is ${largest?.customer}, ${money(largest?.sales ?? '')}`,
      );
      this.hold(
        `Switch ${index + 1}: on ${switched.mark} stand its own question and answer, unchanged`,
        showsTheBranch(switched),
      );
    }
    this.hold('Switching has moved the head and nothing else', isTheSameTree(branches.tree, afterwards));
  }

  /** Again, and not from what was fetched before: switching branches must not have changed a byte. */
  private async replayAll(asked: readonly Asked[]): Promise<void> {
    const { narrator, findings } = this;
    narrator.chapter('Replay every call');
    for (const [index, { calls }] of asked.entries()) {
      const branch = `${index + 1}/${asked.length}`;
      for (const [at, earlier] of calls.entries()) {
        const call = await this.call(earlier.node.id);
        const { sha256: recorded, verified } = call.replay;
        const computed = sha256(call.bytes);
        const length = call.bytes.length;
        findings.digests.push({ nodeId: call.node.id, branch, length, recorded, computed, verified });
        narrator.say(`${call.node.id}  ${count(length)} bytes in ${call.replay.parts.length} parts`);
        narrator.aside(`sha256 recorded ${recorded}`, `       computed ${computed}`);
        const moved = call.bytes.equals(earlier.bytes) ? [] : ['It differs from its replay before the switches.'];
        this.hold(`Call ${at + 1} of branch ${branch} replays byte for byte`, [...replays(call), ...moved]);
      }
    }
  }
}

const count = (number: number): string => number.toLocaleString('en-US');
const money = (sales: string): string => Number(sales).toLocaleString('en-US', { minimumFractionDigits: 2 });
