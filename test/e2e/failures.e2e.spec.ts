import { randomUUID } from 'node:crypto';
import { type Client, until } from '../support/client';
import { requested, unpairedIn } from '../support/client-requests';
import { Deployment, eventsOf, type InnerProcess } from '../support/installation';
import { isText } from '../support/sse';

let deployment: Deployment;
let process: InnerProcess;
let api: Client;

beforeAll(async () => {
  deployment = await Deployment.open({ PALIMPSEST_MAX_CALL_ATTEMPTS: '2' });
  process = await deployment.start();
  api = await deployment.client(process);
});
beforeEach(() => deployment.tools.behave());
afterAll(() => deployment.close());

const say = (text: string) => `[[sim: say ${text}]]`;
const plain = (text: string) => text.split(' [[')[0];
const bodyOf = async (nodeId: string | undefined) => (await api.replay(nodeId ?? '')).body;
/** Both wire formats. */
const models = ['simulated', 'simulated-anthropic'].map((name) => ({ provider: 'simulated', name }) as const);
const talk = (model: (typeof models)[number], tools: readonly string[] = ['lookup']) =>
  api.conversation(tools, { model });

describe.each(models)('a round that fails, told to $name', (model) => {
  it.each(['invalid_request', 'overloaded', 'timeout', 'provider_error', 'auth', 'rate_limited'])(
    'T07: %s: the head is the failed node, and what its tools gave is sent by the next turn, not paid for again',
    async (reason) => {
      const conversationId = await talk(model);
      const turn = await api.ask(conversationId, `search [[sim: call lookup {"n":1}]] [[sim: fail ${reason} round=2]]`);
      expect(turn).toMatchObject({ status: 'failed', error: { code: reason }, head: `${turn.turnId}-2` });
      expect((await api.tree(conversationId, turn.revision)).head).toBe(turn.head);

      const next = await api.ask(conversationId, 'so? [[sim: say done]]');
      expect(next).toMatchObject({ status: 'completed', answer: 'done' });
      const body = await bodyOf(next.nodes[0]);
      const { questions, answers, results } = requested(body);
      expect(results.map(({ text }) => text)).toEqual(['lookup {"n":1}']);
      expect([questions.map(plain), answers.filter((text) => text !== '')]).toEqual([['search', 'so?'], []]);
      expect(unpairedIn(body)).toEqual([]);
      expect(deployment.tools.effectsOf(`${turn.turnId}-1-0`)).toBe(1);
    },
  );

  it('too large: the head stays at the last node that succeeded, and the failed one is a branch that nothing grows from', async () => {
    const conversationId = await talk(model);
    const before = await api.ask(conversationId, say('before'));
    const turn = await api.ask(
      conversationId,
      'search [[sim: call lookup {"n":2}]] [[sim: fail context_overflow round=2]]',
    );
    const [first, second] = turn.nodes;
    expect(turn).toMatchObject({ status: 'failed', error: { code: 'context_overflow' }, head: first });
    const { nodes, head } = await api.tree(conversationId, turn.revision);
    expect(head).toBe(first);
    expect((await api.transcript(conversationId, turn.revision)).bubbles.at(-1)).toMatchObject({
      ...{ role: 'assistant', text: '', nodeId: first, status: 'failed', error: { code: 'context_overflow' } },
    });
    expect(nodes.find(({ id }) => id === second)).toMatchObject({ parent: first, status: 'failed' });
    await expect(api.switchTo(conversationId, second ?? '')).rejects.toMatchObject({ code: 'not_switchable' });

    // Its results were in the request that was too large, and that is off the path: they are new to the path.
    const next = await api.ask(conversationId, 'so? [[sim: echo]]');
    expect(next).toMatchObject({ status: 'completed' });
    expect((await api.node(next.nodes[0] ?? '')).sent).toMatchObject([
      { type: 'tool_result', toolCallId: `${first}-0`, text: 'lookup {"n":2}' },
      { type: 'user' },
    ]);
    expect((await api.tree(conversationId, next.revision)).nodes.at(-1)).toMatchObject({ parent: first });
    const { results, questions } = requested(await bodyOf(next.nodes[0]));
    expect(results.map(({ text }) => text)).toEqual(['lookup {"n":2}']);
    expect(questions.map(plain).slice(1)).toEqual(['search', 'so?']);

    // In its first round it leaves the head where it was.
    const alone = await api.ask(conversationId, 'huge [[sim: fail context_overflow]]');
    expect(alone).toMatchObject({ status: 'failed', head: next.head });
    const after = await api.ask(conversationId, say('on'));
    expect(await bodyOf(after.nodes[0])).not.toContain('huge');
    expect(await bodyOf(before.nodes[0])).toBeTruthy();
  });

  it('a stream that is cut for good leaves its text to the person and the audit, and to no request', async () => {
    const conversationId = await talk(model);
    const words = 'alpha beta gamma delta epsilon zeta eta theta';
    const turn = await api.ask(conversationId, `tell [[sim: cut after=6]] ${say(words)}`);
    expect(turn).toMatchObject({ status: 'failed', answer: null, head: turn.nodes[0] });
    const node = await api.node(turn.nodes[0] ?? '', turn.revision);
    expect(node).toMatchObject({
      status: 'failed',
      received: [],
      failure: { partial: expect.stringContaining('alpha') },
    });
    const { code, detail } = turn.error ?? {};
    const [, answer] = (await api.transcript(conversationId, turn.revision)).bubbles;
    expect(answer).toMatchObject({ role: 'assistant', status: 'failed', error: { code, detail } });
    expect(answer?.text).toContain('alpha');
    const next = await api.ask(conversationId, `and? ${say('ok')}`);
    expect(requested(await bodyOf(next.nodes[0]))).toMatchObject({ answers: [], questions: expect.any(Array) });
    expect((await bodyOf(next.nodes[0])).match(/alpha/g)).toHaveLength(1); // in the question
  });

  it('B07: five failed regenerations of a turn with tools leave one call each, a head that exists, and a conversation that goes on', async () => {
    const conversationId = await talk(model);
    const asked = await api.ask(conversationId, 'again [[sim: call lookup {}]] [[sim: fail invalid_request round=2]]');
    const turns = [asked];
    for (let n = 0; n < 5; n += 1) turns.push(await api.regenerate(conversationId, asked.turnId));
    expect(turns.map(({ status, head, turnId }) => [status, head === `${turnId}-2`])).toEqual(
      Array(6).fill(['failed', true]),
    );
    const { head, nodes } = await api.tree(conversationId, turns.at(-1)?.revision);
    expect(nodes.map(({ id }) => id)).toContain(head);
    expect(nodes.filter(({ parent }) => parent === null)).toHaveLength(6);
    const next = await api.ask(conversationId, say('here'));
    expect(next).toMatchObject({ status: 'completed', answer: 'here' });
    const body = await bodyOf(next.nodes[0]);
    expect([unpairedIn(body), requested(body).results]).toEqual([[], [expect.anything()]]);
    expect((await api.transcript(conversationId, next.revision)).bubbles[0]?.branch).toMatchObject({
      index: 6,
      count: 6,
    });
  });
});

describe.each(models)('a cancel, told to $name', (model) => {
  it('between rounds: what the tools gave stays, and is sent by the next turn', async () => {
    const conversationId = await talk(model);
    const { turnId, frames } = await api.begin(
      conversationId,
      'search [[sim: call lookup {"n":3}]] [[sim: stall ms=60000 round=2]]',
    );
    await frames.until('tool.result');
    await until(
      async () => (await eventsOf(process, conversationId)).filter(({ type }) => type === 'CallRequested').length === 2,
    );
    const cancelled = await api.cancel(conversationId, turnId);
    expect(cancelled).toMatchObject({ status: 'cancelled', answer: null, head: `${turnId}-2` });
    const next = await api.ask(conversationId, 'so? [[sim: say done]]');
    const body = await bodyOf(next.nodes[0]);
    expect(requested(body).results.map(({ text }) => text)).toEqual(['lookup {"n":3}']);
    expect(unpairedIn(body)).toEqual([]);
    expect(deployment.tools.effectsOf(`${turnId}-1-0`)).toBe(1);
  });

  it('in the stream: what a person saw by then is kept for the audit, and is neither an answer nor context', async () => {
    const conversationId = await talk(model);
    // At the process that makes the call: another one may know nothing of the text.
    const here = api.at(process);
    const { turnId, frames } = await here.begin(
      conversationId,
      `tell [[sim: stall ms=60000 after=6]] ${say('one two three four five six seven eight nine '.repeat(3))}`,
    );
    const seen = await frames.until(isText);
    const { revision } = await here.cancel(conversationId, turnId);
    const { failure, received } = await api.node(`${turnId}-1`, revision);
    expect(failure?.partial).toContain(String(seen.at(-1)?.data.text).trim());
    const [, shown] = (await api.transcript(conversationId, revision)).bubbles;
    expect(shown).toMatchObject({ status: 'cancelled', text: failure?.partial });
    expect(received).toEqual([]);
    const next = await api.ask(conversationId, say('ok'));
    expect(requested(await bodyOf(next.nodes[0])).answers).toEqual([]);
  });

  it('while one tool runs and another is done: the done one is sent, the other is unknown, neither runs again', async () => {
    const conversationId = await talk(model, ['lookup', 'note', 'pay']);
    const held = deployment.tools.hold(({ name }) => ({ text: name }));
    const { turnId, frames } = await api.begin(
      conversationId,
      'all [[sim: call note {}]] [[sim: call pay {"eur":5}]] [[sim: call lookup {}]]',
    );
    await frames.until('approval.requested');
    await until(() => [0, 2].every((at) => deployment.tools.effectsOf(`${turnId}-1-${at}`) === 1));
    const cancelled = await api.cancel(conversationId, turnId);
    expect(cancelled).toMatchObject({ status: 'cancelled', head: `${turnId}-1` });
    const inbox = await api.approvals(`?minPosition=${cancelled.position}`);
    expect(inbox.items.filter((item) => item.conversationId === conversationId)).toEqual([]);
    const next = await api.ask(conversationId, say('well'));
    held.open();
    const { sent } = await api.node(next.nodes[0] ?? '');
    expect(sent).toMatchObject([
      { synthetic: 'interrupted' },
      { synthetic: 'not_started' },
      { synthetic: 'interrupted' },
      { type: 'user' },
    ]);
    expect(unpairedIn(await bodyOf(next.nodes[0]))).toEqual([]);
    expect([0, 1, 2].map((at) => deployment.tools.effectsOf(`${turnId}-1-${at}`))).toEqual([1, 0, 1]);
  });
});

it('a queued question that is cancelled leaves no node and no bubble, and the one behind it is answered', async () => {
  const conversationId = await api.conversation([], {}, { whenBusy: 'queue' });
  const { turnId, frames } = await api.begin(conversationId, '[[sim: stall ms=60000 after=1]]');
  await frames.until('round.started');
  const path = `/v1/conversations/${conversationId}/turns`;
  const queue = async (text: string) => {
    const key = randomUUID();
    void api.send('POST', path, { body: { text }, key });
    await until(async () => (await eventsOf(process, conversationId)).at(-1)?.type === 'TurnQueued');
    const queued = (await eventsOf(process, conversationId)).at(-1);
    return queued?.type === 'TurnQueued' ? queued.data.turnId : '';
  };
  const dropped = await queue('never');
  await api.cancel(conversationId, dropped);
  const kept = await queue(`then ${say('fine')}`);
  await until(async () => (await api.current(conversationId)).queued.includes(kept));
  expect(await api.current(conversationId)).toMatchObject({ running: { turnId, status: 'running' }, queued: [kept] });
  await api.cancel(conversationId, turnId);
  const ended = await api.ended(conversationId, kept);
  expect(ended).toMatchObject({ status: 'completed', answer: 'fine' });
  expect(await api.turn(conversationId, dropped)).toMatchObject({ status: 'cancelled', nodes: [] });
  expect(await api.current(conversationId, ended.revision)).toMatchObject({ running: null, queued: [] });
  const { bubbles } = await api.transcript(conversationId, ended.revision);
  expect(bubbles.map(({ turnId: of }) => of)).toEqual([turnId, turnId, kept, kept]);
});

it('every shipped projection is what a rebuild makes of the log', async () => {
  expect(await deployment.faultsOfReadModels(process)).toEqual([]);
});
