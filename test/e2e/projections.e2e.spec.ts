import { PostgresApiKeys } from '@palimpsest/application';
import { conversationTree, findLive } from '@palimpsest/read-models';
import { type Client, until } from '../support/client';
import { Deployment, linesOf, type InnerProcess } from '../support/installation';
import { palimpsest } from './cli-process';

jest.setTimeout(120_000);

let deployment: Deployment;
let one: InnerProcess;
let two: InnerProcess;
let api: Client;
let operator: Client;
let tenant: Client;

beforeAll(async () => {
  deployment = await Deployment.open();
  one = await deployment.start();
  two = await deployment.start();
  api = await deployment.client(one);
  const keys = new PostgresApiKeys(deployment.pool);
  operator = api.withKey((await keys.create({ tenantName: 'operators' }, ['operator'])).secret);
  tenant = api.withKey((await keys.create({ tenantName: 'tenants' }, ['tenant'])).secret);
}, 60_000);
afterAll(() => deployment.close());

interface View {
  readonly name: string;
  readonly position: string;
  readonly lag: { readonly events: number; readonly seconds: number };
  readonly writer: string | null;
  readonly generations: readonly { readonly generation: number; readonly state: string; readonly events: string }[];
  readonly parked: readonly { readonly stream: string; readonly type: string; readonly reason: string }[];
}

const say = (text: string) => `[[sim: say ${text}]]`;
const run = (...args: readonly string[]) =>
  palimpsest(['projections', ...args], { PALIMPSEST_URL: operator.url, PALIMPSEST_API_KEY: operator.apiKey });
async function view(name: string, at = operator): Promise<View> {
  const { items } = await at.get<{ items: readonly View[] }>('/v1/projections');
  const found = items.find((each) => each.name === name);
  if (!found) throw new Error(`There is no projection ${name}.`);
  return found;
}
const parkedAt = (name: string) =>
  deployment.pool.query('select * from read.parked where schema like $1::text', [name]);

describe('GET /v1/projections', () => {
  it('tells an operator at any process how far each is, who writes it, and what it holds', async () => {
    const conversationId = await api.conversation();
    await api.ask(conversationId, say('hello'));
    const { pid } = await deployment.writers();
    for (const at of [operator, operator.at(two)])
      for (const name of ['conversation-tree', 'approvals']) {
        let seen = await view(name, at);
        await until(async () => (seen = await view(name, at)).lag.events === 0);
        const { writer, generations, lag, parked } = seen;
        expect(writer).toMatch(new RegExp(`/${pid}$`));
        expect(lag).toEqual({ events: 0, seconds: 0 });
        expect(parked).toEqual([]);
        expect(generations).toMatchObject([{ generation: 1, state: 'live' }]);
        expect(Number(generations[0]?.events)).toBeGreaterThan(4);
      }
  });

  it('is for operators alone', async () => {
    for (const [method, path] of [
      ['GET', '/v1/projections'],
      ['POST', '/v1/projections/approvals/rebuild'],
      ['POST', '/v1/projections/approvals/retry'],
      ['DELETE', '/v1/projections/approvals/generations/1'],
    ] as const)
      expect(await tenant.send(method, path)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });

  it('refuses what makes no sense, with a sentence', async () => {
    const refusals = [
      [await operator.send('POST', '/v1/projections/nothing/rebuild'), 404, /there are conversation-tree, approvals/],
      [await operator.send('DELETE', '/v1/projections/approvals/generations/1'), 409, /Queries read this generation/],
      [await operator.send('DELETE', '/v1/projections/approvals/generations/7'), 404, /no such generation/],
      [await operator.send('DELETE', '/v1/projections/approvals/generations/x'), 404, /no such generation/],
    ] as const;
    for (const [{ status, body }, expected, detail] of refusals) {
      expect(status).toBe(expected);
      expect(body['detail']).toMatch(detail);
    }
  });
});

describe('a rebuild', () => {
  it('by the command line: takes the place of the one before, which stays until it is dropped', async () => {
    const before = await view('conversation-tree');
    const rebuilt = await run('rebuild', 'conversation-tree', '--json');
    expect(rebuilt).toMatchObject({ end: 0, err: '' });
    const { generation, state } = JSON.parse(rebuilt.out) as { generation: number; state: string };
    expect(state).toBe('live');
    const { generations } = await view('conversation-tree');
    expect(generations.map((each) => [each.generation, each.state])).toEqual([
      [generation, 'live'],
      ...before.generations.map((each) => [each.generation, 'old']),
    ]);
    const conversationId = await api.conversation();
    const { revision, head } = await api.ask(conversationId, say('after the swap'));
    expect((await api.tree(conversationId, revision)).head).toBe(head);
    const listed = await run();
    expect(listed.out).toMatch(/^conversation-tree v\d+: up to date/m);
    expect(listed.out).toMatch(/^ {2}generation 1: old/m);
    expect(await run('drop', 'conversation-tree')).toMatchObject({
      end: 0,
      out: expect.stringMatching(/^Dropped generation 1 /),
    });
    expect(await run('drop', 'conversation-tree')).toMatchObject({
      end: 0,
      out: expect.stringMatching(/nothing to drop/),
    });
    expect(await run('rebuild', 'nothing')).toMatchObject({ end: 1, err: expect.stringMatching(/no such projection/) });
    expect(await deployment.faultsOfReadModels(one)).toEqual([]);
  });

  it('the same Idempotency-Key again is the same rebuild, and another one while it runs is refused', async () => {
    const rebuild = (key: string) => operator.send('POST', '/v1/projections/approvals/rebuild', { key });
    const isBuilt = async () => (await view('approvals')).generations.every(({ state }) => state !== 'building');
    const block = await deployment.pool.connect();
    try {
      // Whoever builds can't swap.
      await block.query(
        `begin; select from read.generations where projection = 'approvals' and state = 'live' for share`,
      );
      const first = await rebuild('once');
      expect([first.status, await rebuild('once')]).toMatchObject([201, { status: 201, body: first.body }]);
      expect(await rebuild('another')).toMatchObject({ status: 409, body: { code: 'rebuild_running' } });
      await block.query('rollback');
      await until(isBuilt);
      expect((await rebuild('once')).body).toEqual(first.body);
      expect(await isBuilt()).toBe(true);
    } finally {
      block.release(true);
    }
  });

  it('keeps no turn waiting, while it builds, swaps and drops: pg_locks shows nobody who waits', async () => {
    const waiting: unknown[] = [];
    let isOver = false;
    const watch = (async () => {
      while (!isOver) {
        const { rows } = await deployment.pool.query(
          // A drop waits for queries that are out in what it drops, and none for it.
          `select a.query, l.relation::regclass::text as relation, l.mode from pg_locks l join pg_stat_activity a using (pid)
           where not l.granted and a.datname = current_database() and l.locktype in ('relation', 'tuple', 'advisory')
             and a.query !~ 'read.generations' and a.query !~ 'pg_advisory_xact_lock' and a.query !~ '^drop schema'`,
        );
        waiting.push(...rows);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    const turns = [0, 0];
    const asking = [one, two].map(async (process, at) => {
      const client = api.at(process);
      const conversationId = await client.conversation();
      for (; !isOver; turns[at]! += 1) {
        const { revision, head } = await client.ask(conversationId, say(String(turns[at])));
        expect((await client.tree(conversationId, revision)).head).toBe(head);
      }
    });
    for (let round = 0; round < 3 || Math.min(...turns) < 4; round += 1) {
      const { generation } = (
        await operator.send<{ generation: number }>('POST', '/v1/projections/conversation-tree/rebuild')
      ).body;
      await until(async () => (await view('conversation-tree')).generations[0]?.state === 'live');
      await operator.send('DELETE', `/v1/projections/conversation-tree/generations/${generation - 1}`);
    }
    isOver = true;
    await Promise.all([...asking, watch]);
    expect(waiting).toEqual([]);
    expect(await deployment.faultsOfReadModels(one)).toEqual([]);
  });
});

describe('a poison event', () => {
  it('parks its conversation, loudly, is tried again by the command line, and keeps nobody else waiting', async () => {
    const { schema } = await findLive(deployment.pool, conversationTree);
    const poisoned = await api.conversation();
    await api.tree(poisoned, (await api.ask(poisoned, say('well'))).revision);
    await deployment.pool.query(
      `alter table ${schema}.turns_v1 add constraint no_more check (conversation_id <> '${poisoned}') not valid`,
    );
    const asked = await api.ask(poisoned, say('poison'));
    expect(asked.answer).toBe('poison');
    await until(async () => (await parkedAt(schema)).rowCount === 1);
    const other = await api.conversation();
    const { revision, head } = await api.ask(other, say('elsewhere'));
    expect((await api.tree(other, revision)).head).toBe(head);

    const { parked } = await view('conversation-tree');
    expect(parked).toMatchObject([
      { stream: `conversation-${poisoned}`, type: 'TurnStarted', reason: expect.stringMatching(/code 23514.*no_more/) },
    ]);
    expect((await run()).out).toMatch(
      new RegExp(`^ {2}parked conversation-${poisoned} at revision \\d+ \\(TurnStarted`, 'm'),
    );
    const metrics = await operator.send('GET', '/metrics');
    expect(metrics.text).toMatch(/^palimpsest_projection_parked_streams\{projection="conversation-tree"\} 1$/m);
    const said = linesOf(await deployment.writers()).filter(({ msg }) => String(msg).includes('parked its stream'));
    expect(said).toMatchObject([{ level: 'error', stream: `conversation-${poisoned}` }]);

    await deployment.pool.query(`alter table ${schema}.turns_v1 drop constraint no_more`);
    expect(await run('retry', 'conversation-tree', '--conversation', poisoned)).toMatchObject({ end: 0 });
    await until(async () => (await parkedAt(schema)).rowCount === 0);
    expect((await api.tree(poisoned, asked.revision)).head).toBe(asked.head);
    expect(await deployment.faultsOfReadModels(one)).toEqual([]);
  });
});
