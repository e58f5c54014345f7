import type { Row, Section } from './rows';
import { sum } from './rows';
import type { Site } from './site';
import { turnTexts } from './texts';

/** How long the conversation is. */
export interface ContextSizes {
  readonly turns: number;
  readonly callsPerTurn: number;
  /** UTF-8 bytes of each tool result. */
  readonly resultBytes: number;
  /** Tokens. */
  readonly inputCap: number;
}

export const agentConversation: ContextSizes = {
  turns: 40,
  callsPerTurn: 5,
  resultBytes: 4_000,
  inputCap: 64_000,
};

const INSTRUCTION = 'answer in two sentences';
/** Turn, from 1, and what it says of the budget. */
const BUDGETS = [
  [1, '10,000'],
  [20, '20,000'],
] as const;
/** What a provider takes for a token that it has in its cache, of what it takes for another. */
const CACHED_PRICE = 0.1;

const OFF = { window: null, pressure: null, folds: null };
/** The first is the default, and the others are there to compare it with. */
const CONTEXTS = {
  'folds at the end of a turn': {},
  'folds at pressure': { folds: 'pressure' },
  everything: OFF,
} as const;

/** All calls of one conversation, summaries too. */
interface Measured {
  readonly input: number;
  /** In tokens of the price of one that is not cached. */
  readonly price: number;
  readonly outsidePrefix: number;
  readonly newBytes: number;
  readonly requests: number;
  /** Requests of turns that lack a confirmed value or the instruction. */
  readonly lacking: number;
}

/** The same long conversation of an agent, with what was said before sent whole, and in the ways in which it can give way. */
export async function measureContexts(
  site: Site,
  sizes: ContextSizes,
  progress: (text: string) => void,
): Promise<Section> {
  const measured = new Map<string, Measured>();
  for (const [name, context] of Object.entries(CONTEXTS)) {
    measured.set(name, await new Conversation(site, sizes, context).talk());
    progress(`a conversation of ${sizes.turns} turns: ${name}`);
  }
  const whole = measured.get('everything') as Measured;
  const rows = [...measured].flatMap(([name, own]): Row[] => {
    if (own === whole) return [];
    const { input, price, outsidePrefix, newBytes, requests, lacking } = own;
    const isDefault = name === 'folds at the end of a turn';
    const aimOf = (aim: NonNullable<Row['aim']>) => isDefault && { aim };
    return [
      {
        what: `${name}: input to sending everything`,
        ratio: input / whole.input,
        ...aimOf({ most: 0.35 }),
        detail: `${thousands(input)} to ${thousands(whole.input)} tokens`,
      },
      {
        what: `${name}: bytes outside the shared prefix to new ones`,
        ratio: outsidePrefix / newBytes,
        ...aimOf({ most: 2.5 }),
        detail: `${thousands(outsidePrefix)} to ${thousands(newBytes)} bytes`,
      },
      {
        what: `${name}: input at cache prices to sending everything`,
        ratio: price / whole.price,
        detail: `${thousands(price)} to ${thousands(whole.price)} tokens of full price`,
      },
      {
        what: `${name}: requests that hold every confirmed value`,
        ratio: (requests - lacking) / requests,
        ...aimOf({ least: 1 }),
        detail: `${requests - lacking} of ${requests}`,
      },
    ];
  });
  const { turns, callsPerTurn, resultBytes, inputCap } = sizes;
  return {
    title: `An agent's conversation of ${turns} turns, each with ${callsPerTurn} tool calls of ${resultBytes} bytes, input cap ${inputCap}`,
    how:
      'The same texts each time; summaries’ own calls count. “Everything”: the same conversation without cap, window, folds and summaries. ' +
      `At cache prices a token that the request before shares counts ${CACHED_PRICE}.`,
    rows,
  };
}

class Conversation {
  constructor(
    private readonly site: Site,
    private readonly sizes: ContextSizes,
    private readonly context: object,
  ) {}

  async talk(): Promise<Measured> {
    const { client } = this.site;
    const { turns, inputCap } = this.sizes;
    const cap = this.context === OFF ? 100_000_000 : inputCap;
    const { assistantId } = await client.assistant({
      ...{ name: 'Agent', systemPrompt: 'You answer questions about invoices.', state: 'default' },
      ...{ model: { provider: 'openai', name: 'simulated', inputCap: cap }, context: this.context },
      tools: [{ type: 'http', name: 'lookup' }],
    } as never);
    const { conversationId } = await client.start({ assistantId });
    await client.say(conversationId, { field: 'instructions', value: INSTRUCTION });
    let newBytes = 0;
    const turnOf = new Map<string, number>();
    for (let turn = 1; turn <= turns; turn++) {
      newBytes += await this.turn(conversationId, turn, (nodeId) => turnOf.set(nodeId, turn));
    }
    await this.site.readModelsCaughtUp();
    return { newBytes, ...(await this.calls(conversationId)), ...(await this.lacking(turnOf)) };
  }

  /** Bytes of its texts. */
  private async turn(conversationId: string, turn: number, made: (nodeId: string) => void): Promise<number> {
    const { callsPerTurn, resultBytes } = this.sizes;
    const results = Array.from(
      { length: callsPerTurn },
      (_, n) => turnTexts(turn * callsPerTurn + n, resultBytes).result,
    );
    const budget = BUDGETS.find(([said]) => said === turn)?.[1];
    // What the model is to do stands in the question too, so it is in words that no rule takes for a change of the state.
    const [calls, answer] = [results.map((_, n) => `{"customer":"C${turn}-${n}"}`), `Open at C${turn}: two of them.`];
    const toDo = [...calls.map((raw) => `[[sim: call lookup ${raw}]]`), `[[sim: say ${answer}]]`].join(' ');
    const question = `${budget ? `My budget is ${budget}. ` : ''}Which invoices of C${turn} are open? ${toDo}`;
    let next = 0;
    this.site.tool.answer = () => results[next++ % results.length] as string;
    const { status, nodes, error } = await this.site.client.ask(conversationId, question);
    if (status !== 'completed' || next !== callsPerTurn)
      throw new Error(`Turn ${turn} of the bench went wrong: ${status} ${JSON.stringify(error)}, ${next} calls.`);
    nodes.forEach(made);
    const said = [question, answer, ...results, ...calls];
    return sum(said.map((text) => Buffer.byteLength(text)));
  }

  private async calls(conversationId: string): Promise<Pick<Measured, 'input' | 'price' | 'outsidePrefix'>> {
    const { client } = this.site;
    let [input, cached, outsidePrefix] = [0, 0, 0];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { readonly items: readonly Call[]; readonly next: string | null } = await client.get(
        `/v1/conversations/${conversationId}/usage?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      for (const { usage, cache } of page.items) {
        input += usage?.inputTokens ?? 0;
        cached += ((usage?.inputTokens ?? 0) * cache.prefixBytes) / cache.bytes;
        outsidePrefix += cache.bytes - cache.prefixBytes;
      }
      cursor = page.next;
    }
    return { input, price: input - (1 - CACHED_PRICE) * cached, outsidePrefix };
  }

  private async lacking(turnOf: ReadonlyMap<string, number>): Promise<Pick<Measured, 'requests' | 'lacking'>> {
    let lacking = 0;
    for (const [nodeId, turn] of turnOf) {
      const { body } = await this.site.client.replay(nodeId);
      const budget = [...BUDGETS].reverse().find(([said]) => said <= turn)?.[1];
      if (!body.includes(`${budget} [latest confirmed]`) || !body.includes(INSTRUCTION)) lacking += 1;
    }
    return { requests: turnOf.size, lacking };
  }
}

interface Call {
  readonly usage: { readonly inputTokens: number } | null;
  readonly cache: { readonly bytes: number; readonly prefixBytes: number };
}

const thousands = (number: number): string => Math.round(number).toLocaleString('en');
