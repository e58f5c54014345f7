import { estimatingCounter } from '@palimpsest/context';
import type { StoredEvent } from '@palimpsest/event-store';
import { conversationStream } from '@palimpsest/read-models';
import type { Client } from '../support/client';
import { Deployment, eventsOf, type InnerProcess } from '../support/installation';

const ROUNDS = 100;

let deployment: Deployment;
let process: InnerProcess;
let api: Client;

beforeAll(async () => {
  deployment = await Deployment.open({ PALIMPSEST_MAX_ROUNDS_PER_TURN: String(ROUNDS + 1) });
  process = await deployment.start();
  api = await deployment.client(process);
});
afterAll(() => deployment.close());

/** Words that no compressor has seen in this order: what a round says that is new. */
function novel(seed: number, length: number): string {
  const words: string[] = [];
  let state = seed * 2_654_435_761 + 1;
  for (let written = 0; written < length; written += 8) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    words.push(state.toString(36).padStart(7, '0'));
  }
  return words.join(' ');
}

/** Bytes of an event as it is written, with the payload that it refers to. */
async function bytesOf({ data, metadata }: StoredEvent): Promise<number> {
  let bytes = JSON.stringify(data).length + JSON.stringify(metadata).length;
  const { payload } = (data['sealed'] ?? {}) as { readonly payload?: string };
  if (payload === undefined) return bytes;
  for await (const chunk of process.installation.running.system.store.readStream(`payload-${payload}`))
    bytes += JSON.stringify(chunk.data).length + JSON.stringify(chunk.metadata).length;
  return bytes;
}

/** What each round of a turn stored, from its request to the result that it got. */
async function storedByRound(conversationId: string, turnId: string): Promise<readonly number[]> {
  const rounds: number[] = [];
  for await (const event of process.installation.running.system.store.readStream(conversationStream(conversationId))) {
    const { nodeId } = event.data as { readonly nodeId?: string };
    // Folds stand in front of the request that they are made for.
    const round = nodeId?.startsWith(turnId) === true ? Number(nodeId.split('-').at(-1)) : rounds.length;
    if (round === 0) continue;
    rounds[round - 1] = (rounds[round - 1] ?? 0) + (await bytesOf(event));
  }
  return rounds;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

it.each([
  ['a model that takes it all', 1_000_000, 0],
  ['a model that takes so little more that old results are folded', 60_000, 20],
])(
  'P06: a hundred tool calls on a context of 200k tokens store what they say that is new, and no more: %s',
  async (_what, room, leastFolds) => {
    let run = 0;
    const resultBytes = 6_000;
    const text = () => novel((run += 1), resultBytes);
    deployment.tools.behave(() => ({ text: text() }));
    const context = novel(-1, 820_000);
    const inputCap = estimatingCounter().text(context) + room;
    const model = { provider: 'simulated', name: 'simulated', inputCap } as const;
    const conversationId = await api.conversation(['lookup'], { model });
    expect((await api.ask(conversationId, `${context} [[sim: say read]]`)).status).toBe('completed');
    const turn = await api.ask(conversationId, `[[sim: rounds=${ROUNDS} tool=lookup args={}]] [[sim: say done]]`);
    expect(turn).toMatchObject({ status: 'completed', answer: 'done' });
    const nodes = new Map((await api.tree(conversationId, turn.revision)).nodes.map((node) => [node.id, node]));
    expect(nodes.get(turn.nodes[1] ?? '')?.usage?.inputTokens).toBeGreaterThan(200_000);

    const rounds = (await storedByRound(conversationId, turn.turnId)).slice(0, ROUNDS);
    const early = sum(rounds.slice(5, 35));
    const late = sum(rounds.slice(65, 95));
    const folds = (await eventsOf(process, conversationId)).filter(({ type }) => type === 'ToolResultFolded');
    expect(folds.length).toBeGreaterThanOrEqual(leastFolds);
    // A fold keeps its stand-in, and writes the places of one message anew; it is paid once for each result.
    const perFold = leastFolds > 0 ? 3_500 : 0;
    expect(late).toBeLessThan(early * 1.1 + 30 * perFold);
    expect(sum(rounds) / ROUNDS).toBeLessThan(resultBytes + 3_500 + perFold);
    for (const nodeId of [turn.nodes[1], turn.nodes[63], turn.nodes.at(-1)])
      expect(await api.replay(nodeId ?? '')).toMatchObject({ verified: true });
  },
  180_000,
);
