import type { ReadItems } from '@palimpsest/context';
import type { ConversationEvent } from '@palimpsest/conversation';
import { createHandler, EventCodec, InMemoryEventStore } from '@palimpsest/event-store';
import { context, testKeys } from '@palimpsest/event-store/testing';
import { ConversationLog, conversationTree, ConversationTree } from '@palimpsest/read-models';
import { createReadModel, type TestReadModel } from '../../../test/support/read-model';
import { exchangeAt } from './extraction/exchange';
import { Paths, pathTo } from './paths';

const A = '0197f7a0-0000-7000-8000-00000000000a';
const turnId = (n: number) => `0197f7a0-0000-7000-8000-00000000000${n}`;

let model: TestReadModel;
beforeEach(async () => {
  model = await createReadModel(conversationTree);
});
afterEach(() => model.drop());

const event = (type: string, data: object, content: object | null = null) =>
  ({ type, data, content }) as ConversationEvent;
const started = (n: number, parent: string | null) =>
  event('TurnStarted', { turnId: turnId(n), kind: 'ask', parent, assistantVersion: 1, at: '', zone: 'UTC' }, { question: `question ${n}` }); // prettier-ignore
const requested = (nodeId: string, data: object) =>
  event('CallRequested', { nodeId, provider: 'p', model: 'm', length: 7, exact: true, ...data }, { manifest: [], segments: [] }); // prettier-ignore
const round = (n: number, number: number, parent: string | null) =>
  requested(`t${n}-${number}`, { kind: 'turn', parent, turnId: turnId(n), round: number });
const succeeded = (nodeId: string, text: string, toolCalls: readonly object[] = []) =>
  event('CallSucceeded', { nodeId, toolCalls, usage: { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 } }, { response: text }); // prettier-ignore
const completed = (n: number, from: string | null, to: string) => [
  event('TurnCompleted', { turnId: turnId(n) }),
  event('HeadMoved', { from, to, reason: 'turn' }),
];

/** Two turns, the first with a call, folded and summarised by the second one's first request: append by append. */
const appends: readonly (readonly ConversationEvent[])[] = [
  [event('ConversationStarted', { assistantId: A, assistantVersion: 1, subjectId: 's', zone: 'UTC', whenBusy: 'refuse' })], // prettier-ignore
  [started(1, null), round(1, 1, null)],
  [succeeded('t1-1', 'look', [{ toolCallId: 't1-1-0', tool: 'lookup', effect: 'read', approval: false, argumentsDigest: 'd' }])], // prettier-ignore
  [event('ToolExecuted', { toolCallId: 't1-1-0', isError: false }, { text: 'found' }), round(1, 2, 't1-1')],
  [succeeded('t1-2', 'answer 1'), ...completed(1, null, 't1-2')],
  [started(2, 't1-2'), round(2, 1, 't1-2')],
  [succeeded('t2-1', 'answer 2'), ...completed(2, 't1-2', 't2-1')],
  [requested('s', { kind: 'summary', parent: 't1-2', carrier: 'c', segment: 'window' })],
  [succeeded('s', 'summary')],
  [
    started(3, 't2-1'),
    event('SummaryFolded', { nodeId: 't3-1', summary: 's', from: 't1-1', to: 't1-2' }),
    event('ToolResultFolded', { nodeId: 't3-1', toolCallId: 't1-1-0', handle: 'h' }, { text: 'stand-in' }),
    round(3, 1, 't2-1'),
  ],
  [succeeded('t3-1', 'answer 3'), ...completed(3, 't2-1', 't3-1')],
];

const readItems: ReadItems = (response, _nodeId, revision) => [
  { type: 'assistant', text: { text: String(response), source: { revision, pointer: '/response' } } },
];

/** A log that holds all of that, and of which the read model knows nothing yet. */
async function told() {
  const store = new InMemoryEventStore();
  const keys = testKeys();
  await keys.forConversation(A);
  const codec = new EventCodec({ store, keys });
  const decide = (_: null, events: readonly ConversationEvent[]) =>
    ({ ok: true, events, facts: events.length }) as const;
  const handler = createHandler({ store, codec, decider: { initial: null, decide, evolve: () => null } });
  for (const [n, events] of appends.entries())
    await handler.handle(`conversation-${A}`, events, { ...context, occurredAt: new Date(n).toISOString() });
  await handler.close();
  const log = new ConversationLog(store, codec);
  const revision = BigInt(appends.flat().length - 1);
  const hold = async () => {
    const paths = new Paths(log, new ConversationTree(model.pool), readItems, () => Promise.resolve([]), 1e9);
    const held = await paths.hold({ conversationId: A, nodeId: 't3-1', revision, turnStartedAt: revision + 1n });
    return { paths, held };
  };
  return { store, hold };
}

it('a path is the same wherever the read model stands, within an append too', async () => {
  const { store, hold } = await told();
  const seen = async () => {
    const { paths, held } = await hold();
    await paths.complete(held, pathTo(held.fold, 't3-1'));
    const path = pathTo(held.fold, 't3-1');
    return { nodes: held.fold.render(path, null), segments: held.fold.segmentsOn(path) };
  };
  const whole = await seen();
  expect(whole.nodes.map(({ question }) => question?.text)).toEqual(['question 1', undefined, 'question 2', 'question 3']); // prettier-ignore
  expect(whole.nodes[1]?.results[0]).toMatchObject({ folded: 'h', result: { text: 'stand-in' } });
  expect(whole.segments).toHaveLength(1);
  for await (const stored of store.readAll()) {
    await conversationTree.apply([stored], model.pool);
    expect({ at: stored.revision, ...(await seen()) }).toEqual({ at: stored.revision, ...whole });
  }
});

it('a turn for which a summary stands is read where an extraction asks what it says', async () => {
  const { store, hold } = await told();
  for await (const stored of store.readAll()) await conversationTree.apply([stored], model.pool);
  const { paths, held } = await hold();
  expect(held.fold.node('t1-2')?.unread).toBe(true);
  const exchange = await exchangeAt(paths, held, 't1-2');
  expect(exchange).toMatchObject({ question: { text: 'question 1' }, questionAt: 'sent/0', answerAt: ['received/0'] });
});
