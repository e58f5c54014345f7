import type { PathNode } from '@palimpsest/context';
import { answered, assistant, bodyOf, node, sourced, systemPrompt, wireCall } from '../../testing';
import type { WireAnswer } from '../port';
import { itemsOfResponse, textOfItems } from '../response-items';
import { SimulatedProvider } from './provider';
import { type SimulatedModel, startSimulatedModel } from './server/start';

const QUESTION = "Who were last month's ten largest customers by sales?";
const DOMESTIC = 'name,sales\nAster,1200.50\nBirch,900.00\n(2 rows)';
const OVERSEAS = 'name,sales\nCedar,7100.00\nAster,1200.50\n(2 rows)';

describe.each(['simulated', 'simulated-anthropic'])('the story of the demo, told by %s', (model) => {
  let server: SimulatedModel;
  let provider: SimulatedProvider;
  beforeAll(async () => {
    server = await startSimulatedModel({ capture: true });
    provider = new SimulatedProvider({ baseUrl: server.url });
  });
  afterAll(() => server.close());

  async function ask(path: readonly PathNode[]): Promise<WireAnswer> {
    const request = provider.render({ assistant: assistant({ name: model }), systemPrompt, path });
    expect(request.unpaired).toBe(0);
    const before = server.captures.length;
    const answer = await provider.call(wireCall(request));
    expect(server.captures[before]?.body.equals(bodyOf(request))).toBe(true);
    return answer;
  }

  function queryOf(answer: WireAnswer): string {
    const [call] = itemsOfResponse(answer.response, 'n', 1);
    return call?.type === 'tool_call' ? (JSON.parse(call.arguments.text) as { query: string }).query : '';
  }

  async function askAndRun(
    turn: string,
    question: string,
    result: string,
    before: readonly PathNode[] = [],
  ): Promise<PathNode[]> {
    const first = node(`${turn}-1`, { question: sourced(question) });
    const called = answered(provider, first, (await ask([...before, first])).response);
    const second = node(`${turn}-2`, {
      results: [{ toolCallId: `${turn}-1-0`, result: sourced(result, 5), isError: false }],
    });
    return [...before, called, answered(provider, second, (await ask([...before, called, second])).response)];
  }

  function lastText(path: readonly PathNode[]): string {
    return textOfItems(path.at(-1)?.received?.items ?? []);
  }

  it('asks the tool for domestic sales of last month, then answers with its figures', async () => {
    const first = node('t1-1', { question: sourced(QUESTION) });
    const query = queryOf(await ask([first]));
    expect(query).toContain("s.channel = 'domestic'");
    expect(query).toContain("date '2026-05-01' and s.sold_on < date '2026-06-01'");
    expect(query).toContain('limit 10');
    const path = await askAndRun('t1', QUESTION, DOMESTIC);
    expect(lastText(path)).toContain('1. Aster — 1200.50\n2. Birch — 900.00');
  });

  it('asks again for the corrected question on a branch that holds no old figures', async () => {
    const corrected = `${QUESTION.slice(0, -1)}, including overseas subsidiaries?`;
    const query = queryOf(await ask([node('t2-1', { question: sourced(corrected) })]));
    expect(query).toContain('coalesce(c.parent_id, c.id)');
    const path = await askAndRun('t2', corrected, OVERSEAS);
    expect(lastText(path)).toContain('1. Cedar — 7100.00');
  });

  it('repeats the old figures where they are in its context', async () => {
    const path = await askAndRun('t1', QUESTION, DOMESTIC);
    const next = node('t3-1', { question: sourced('And including overseas subsidiaries?') });
    const answer = await ask([...path, next]);
    expect(textOfItems(itemsOfResponse(answer.response, 'n', 1))).toContain('1. Aster — 1200.50');
  });

  it('sums up the figures in its context', async () => {
    const path = await askAndRun('t1', QUESTION, DOMESTIC);
    const answer = await ask([...path, node('t3-1', { question: sourced('What was the total?') })]);
    expect(textOfItems(itemsOfResponse(answer.response, 'n', 1))).toBe('The total is 2100.50.');
  });
});
