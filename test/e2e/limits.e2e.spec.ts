import { type Client, type ProblemReply, until } from '../support/client';
import { Deployment, eventsOf, type InnerProcess } from '../support/installation';

let deployment: Deployment;
let process: InnerProcess;
let api: Client;

beforeAll(async () => {
  deployment = await Deployment.open({
    PALIMPSEST_MAX_RUNNING_TURNS: '3',
    PALIMPSEST_MAX_RUNNING_TURNS_PER_TENANT: '2',
    PALIMPSEST_MAX_WAIT_MS: '500',
    PALIMPSEST_MAX_TOOL_RESULT_BYTES: '10000',
    PALIMPSEST_MAX_REQUEST_BYTES: '200000',
  });
  process = await deployment.start();
  api = await deployment.client(process, 'alone');
});
beforeEach(() => deployment.tools.behave());
afterAll(() => deployment.close());

it('bounds the turns that run: the next one of the tenant, and of the process, is told 429 too_many_turns', async () => {
  const [neighbour, third] = [await deployment.client(process, 'alone'), await deployment.client(process, 'alone')];
  const begin = async (client: Client) => {
    const conversationId = await client.conversation();
    return { client, conversationId, ...(await client.begin(conversationId, '[[sim: stall ms=60000]]')) };
  };
  const oneMore = async (client: Client) => client.ask(await client.conversation(), '[[sim: say one too many]]');
  const before = await api.conversation();
  const once = await api.ask(before, '[[sim: say once]]', { key: 'once' });
  const running = [await begin(api), await begin(api)];
  const refused: unknown = await oneMore(api).catch((problem: unknown) => problem);
  expect(refused).toMatchObject({ status: 429, code: 'too_many_turns', reply: { body: { running: 2, limit: 2 } } });
  expect((refused as ProblemReply).reply.headers.get('retry-after')).toBe('1');

  // What had its effect is answered however full the process is, and so is what the rules refuse.
  expect(await api.ask(before, '[[sim: say once]]', { key: 'once' })).toEqual(once);
  await expect(api.ask(before, '[[sim: say other]]', { key: 'once' })).rejects.toMatchObject({
    code: 'idempotency_conflict',
  });

  running.push(await begin(neighbour));
  await expect(oneMore(third)).rejects.toMatchObject({
    code: 'too_many_turns',
    reply: { body: { running: 3, limit: 3 } },
  });

  for (const { client, conversationId, turnId } of running) await client.cancel(conversationId, turnId);
  expect(await api.ask(await api.conversation(), '[[sim: say room again]]')).toMatchObject({ status: 'completed' });
});

it('waits for the revision that a query asks for, and says 503 behind where it does not come', async () => {
  const conversationId = await api.conversation();
  for (let at = 1; at <= 5; at += 1) {
    const turn = await api.ask(conversationId, `[[sim: say ${at}]]`);
    // At once: the read model may be behind, and the query waits for it.
    const tree = await api.tree(conversationId, turn.revision);
    expect(tree.nodes).toHaveLength(at);
    expect(tree.head).toBe(turn.head);
    expect((await api.transcript(conversationId, turn.revision)).bubbles).toHaveLength(at * 2);
  }
  await expect(api.tree(conversationId, '999999')).rejects.toMatchObject({ status: 503, code: 'behind' });
  await expect(api.conversations('?minPosition=999999999')).rejects.toMatchObject({ status: 503, code: 'behind' });
});

it('pages a list with cursors: each conversation once, newest first, also while new ones come', async () => {
  const mine = await deployment.client(process, 'alone');
  const { assistantId } = await mine.assistant();
  const made: string[] = [];
  let position = '';
  for (let at = 0; at < 7; at += 1) {
    const conversation = await mine.start({ assistantId });
    made.push(conversation.conversationId);
    ({ position } = conversation);
  }
  const seen: string[] = [];
  let query = `?limit=3&minPosition=${position}`;
  for (;;) {
    const { items, next } = await mine.conversations(query);
    seen.push(...items.map(({ conversationId }) => conversationId));
    if (next === null) break;
    await mine.start({ assistantId });
    query = `?limit=3&cursor=${encodeURIComponent(next)}`;
  }
  expect(seen).toEqual([...made].reverse());
  await expect(mine.conversations('?cursor=nonsense')).rejects.toMatchObject({
    status: 400,
    code: 'validation_failed',
  });
  await expect(mine.conversations('?limit=0')).rejects.toMatchObject({ status: 400, code: 'validation_failed' });
});

it('says so in the result where a tool answers more than is kept, and the turn goes on', async () => {
  deployment.tools.behave(() => ({ text: 'x'.repeat(20_000) }));
  const conversationId = await api.conversation(['lookup']);
  const turn = await api.ask(conversationId, '[[sim: call lookup {}]] [[sim: echo]]');
  expect(turn.status).toBe('completed');
  expect(turn.answer).toMatch(/larger than 10000 bytes/);
});

it('fails a turn whose request would be too large, visibly, and takes a smaller question', async () => {
  deployment.tools.behave(() => ({ text: 'y'.repeat(9_000) }));
  const conversationId = await api.conversation(['lookup']);
  const turn = await api.ask(conversationId, '[[sim: parallel=30 tool=lookup args={}]]');
  expect(turn).toMatchObject({ status: 'failed', answer: null, error: { code: 'request_too_large' } });
  const results = (await eventsOf(process, conversationId)).filter(({ type }) => type === 'ToolExecuted');
  expect(results).toHaveLength(30);
  await until(() => process.installation.running.system.engine.running === 0);
  const edited = await api.edit(conversationId, turn.turnId, '[[sim: say short]]');
  expect(edited).toMatchObject({ status: 'completed', answer: 'short' });
});
