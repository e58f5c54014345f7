import { check, type Check } from './checks';
import type { Api, AssistantFields, Turn } from './client';
import { type Figure, figuresIn } from './figures';
import { type Narrator, wrap } from './narrator';
import type { Asked, Call } from './record';

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

export const QUESTION = 'Who were our ten largest customers by sales last month?';

const ASSISTANT: AssistantFields = {
  name: 'Sales',
  systemPrompt: 'You answer questions about sales. Take every figure from the database.',
  model: { provider: 'simulated', name: 'simulated' },
  tools: [{ type: 'builtin', name: 'sql' }],
};

/** What the chapters of the demo share: the server, the narrator, and what was found so far. */
export class Stage {
  constructor(
    readonly client: Api,
    readonly narrator: Narrator,
    readonly findings: Findings,
  ) {}

  async step<T>(name: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    try {
      return await work();
    } finally {
      this.findings.steps.push({ name, ms: Math.round(performance.now() - began) });
    }
  }

  hold(name: string, problems: readonly string[]): void {
    const held = check(name, problems);
    this.findings.checks.push(held);
    this.narrator.check(held);
  }

  /** With an assistant of its own: what is not given is that of the story. */
  async newConversation(fields: Partial<AssistantFields> = {}): Promise<string> {
    const { assistantId } = await this.client.createAssistant({ ...ASSISTANT, ...fields });
    return (await this.client.startConversation(assistantId)).conversationId;
  }

  async seen(conversationId: string, question: string, turn: Turn): Promise<Asked> {
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

  async call(nodeId: string): Promise<Call> {
    const [node, replay, bytes] = await Promise.all([
      this.client.node(nodeId),
      this.client.replay(nodeId),
      this.client.replayBytes(nodeId),
    ]);
    return { node, replay, bytes };
  }

  sayStatement({ statement }: Asked): void {
    this.narrator.aside(...wrap(statement, 100).map((line) => `  ${line}`));
  }

  sayFigures(figures: readonly Figure[]): void {
    const width = Math.max(...figures.map(({ customer }) => customer.length), 0);
    for (const [index, { customer, sales }] of figures.entries())
      this.narrator.say(`${String(index + 1).padStart(4)}. ${customer.padEnd(width)}  ${money(sales).padStart(12)}`);
  }
}

export const count = (number: number): string => number.toLocaleString('en-US');
export const money = (sales: string): string => Number(sales).toLocaleString('en-US', { minimumFractionDigits: 2 });
