import { openLog } from '@palimpsest/installation';
import { createLogger, loadConfig } from '@palimpsest/platform';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Client, until } from '../support/client';
import { Deployment, linesOf, type OwnProcess } from '../support/installation';
import { faultsOfReadModels } from '../support/rebuild';
import { newLog } from '../support/test-log';

/** Two api processes that never write a read model, and two projectors, each a process of the operating system. */
const log = newLog();
let deployment: Deployment;
let apis: [OwnProcess, OwnProcess];
let projectors: OwnProcess[];
let here: Client;
let there: Client;

beforeAll(async () => {
  deployment = await Deployment.open({ ...log, PALIMPSEST_PROJECTOR: 'off' });
  const [one, two, three, four] = await Promise.all([
    ...[deployment.spawn(), deployment.spawn()],
    ...[deployment.spawn({}, 'projector'), deployment.spawn({}, 'projector')],
  ] as const);
  apis = [one, two];
  projectors = [three, four];
  here = await deployment.client(one);
  there = here.at(two);
  const names = [...(await metricsOf(three)).keys()].map(
    (name) => /^palimpsest_projector_writes{projection="(.+)"}/.exec(name)?.[1],
  );
  projections = names.filter((name) => name !== undefined);
}, 120_000);
afterAll(() => deployment.close());

const deployFolder = join(__dirname, '..', '..', 'deploy');
let projections: readonly string[];
const say = (text: string) => `[[sim: say ${text}]]`;

/** What a process says of itself, by the name and the labels of the metric. */
async function metricsOf(process: OwnProcess): Promise<ReadonlyMap<string, number>> {
  const { status, text } = await here.at(process).send('GET', '/metrics');
  expect(status).toBe(200);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.replace(/ [^ ]+$/, ''), Number(/[^ ]+$/.exec(line)?.[0])]));
}

async function writes(process: OwnProcess, projection: string): Promise<boolean> {
  return (await metricsOf(process)).get(`palimpsest_projector_writes{projection="${projection}"}`) === 1;
}

async function faults(): Promise<readonly string[]> {
  const config = loadConfig({ DATABASE_URL: deployment.database.url, ...log });
  const { store } = await openLog(config, deployment.pool, createLogger('silent'));
  try {
    return await faultsOfReadModels(store, deployment.pool);
  } finally {
    await store.close();
  }
}

it('carries a conversation at either api process, and reads what a projector wrote at both', async () => {
  const conversationId = await here.conversation();
  const first = await here.ask(conversationId, say('one'));
  const second = await there.ask(conversationId, say('two'));
  const third = await here.edit(conversationId, first.turnId, say('three'));
  expect([first, second, third].map(({ answer }) => answer)).toEqual(['one', 'two', 'three']);
  for (const api of [here, there]) {
    const { nodes, head } = await api.tree(conversationId, third.revision);
    expect(nodes).toHaveLength(3);
    expect(head).toBe(third.nodes[0]);
    const { bubbles } = await api.transcript(conversationId, third.revision);
    expect(bubbles.map(({ text, branch }) => [text, branch.index])).toEqual([
      [say('three'), 2],
      ['three', 2],
    ]);
    expect((await api.replay(third.nodes[0] ?? '')).verified).toBe(true);
  }
});

it('has one process write each projection, and all of them tell how far it is behind', async () => {
  expect(projections).toEqual(expect.arrayContaining(['conversation-tree', 'approvals']));
  for (const projection of projections) {
    await until(async () => {
      const writers = (await Promise.all(projectors.map((process) => writes(process, projection)))).filter(Boolean);
      expect(writers.length).toBeLessThanOrEqual(1);
      return writers.length === 1;
    });
    for (const process of [...apis, ...projectors])
      await until(
        async () => (await metricsOf(process)).get(`palimpsest_projector_lag_events{projection="${projection}"}`) === 0,
      );
  }
  expect(await Promise.all(apis.map((process) => writes(process, 'conversation-tree')))).toEqual([false, false]);
});

it('answers for its health to everybody, for its metrics to operators alone, and for nothing else', async () => {
  const [projector] = projectors;
  const at = (path: string, init: RequestInit = {}) => fetch(`${projector?.url}${path}`, init);
  expect(await (await at('/healthz')).json()).toEqual({ status: 'ok' });
  expect(await (await at('/readyz')).json()).toEqual({
    ready: true,
    checks: { database: { ok: true }, log: { ok: true }, projections: { ok: true } },
  });
  const metrics = await at('/metrics', { headers: { authorization: 'Bearer nobody' } });
  expect([metrics.status, metrics.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="palimpsest"']);
  expect(await metrics.json()).toMatchObject({ code: 'unauthorized', status: 401 });
  expect((await at('/v1/conversations')).status).toBe(404);
  expect((await at('/healthz', { method: 'POST' })).status).toBe(405);
});

it('kill -9 of the process that writes: another one goes on within seconds, and the read models equal a rebuild', async () => {
  const conversationIds = await Promise.all([here, there, here].map((api) => api.conversation()));
  let isOver = false;
  const asking = conversationIds.map(async (conversationId, n) => {
    const api = n % 2 === 0 ? here : there;
    let last = await api.ask(conversationId, say('0'));
    for (let turn = 1; !isOver; turn += 1, await sleep(50)) last = await api.ask(conversationId, say(String(turn)));
    return last;
  });

  const isWriting = await Promise.all(projectors.map((process) => writes(process, 'conversation-tree')));
  const writing = projectors[isWriting.indexOf(true)] as OwnProcess;
  const [other] = projectors.filter((process) => process !== writing) as [OwnProcess];
  const began = performance.now();
  await writing.kill('SIGKILL');
  for (const projection of projections) await until(() => writes(other, projection));
  expect(performance.now() - began).toBeLessThan(5_000);
  projectors = [other, await deployment.spawn({}, 'projector')];
  isOver = true;
  const ended = await Promise.all(asking);

  for (const [n, { revision, head }] of ended.entries())
    for (const api of [here, there]) expect((await api.tree(conversationIds[n] ?? '', revision)).head).toBe(head);
  expect(await faults()).toEqual([]);
});

it('SIGTERM: lets go at once, ends with 0, and the one that stands by writes on', async () => {
  const isWriting = await Promise.all(projectors.map((process) => writes(process, 'approvals')));
  const leaving = projectors[isWriting.indexOf(true)] as OwnProcess;
  const [staying] = projectors.filter((process) => process !== leaving) as [OwnProcess];
  expect(await leaving.kill('SIGTERM')).toBe(0);
  const said = linesOf(leaving).map(({ msg }) => msg);
  expect(said.slice(said.indexOf('shutting down'))).toEqual([
    'shutting down',
    ...projections.map(() => 'no longer writes a projection'),
  ]);
  expect(linesOf(leaving).filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);

  for (const projection of projections) await until(() => writes(staying, projection));
  const conversationId = await there.conversation();
  const { revision, head } = await here.ask(conversationId, say('still here'));
  expect((await there.tree(conversationId, revision)).head).toBe(head);
  expect(await faults()).toEqual([]);
});

it('builds every read model anew after deploy/after-restore.sql', async () => {
  await Promise.all(deployment.processes.map((process) => process.close()));
  await deployment.pool.query(readFileSync(join(deployFolder, 'after-restore.sql'), 'utf8'));
  const [one, two, projector] = await Promise.all([
    deployment.spawn(),
    deployment.spawn(),
    deployment.spawn({}, 'projector'),
  ]);
  apis = [one, two];
  projectors = [projector];
  await until(async () => (await here.at(projector).send('GET', '/readyz')).status === 200);
  await until(async () => (await here.at(two).conversations()).items.length > 0);
  await until(async () => (await faults()).length === 0);
});

it('says in a sentence that it needs a Postgres of the operator', async () => {
  await expect(deployment.spawn({ DATABASE_URL: '' }, 'projector')).rejects.toThrow(
    /DATABASE_URL is not set\. .*the embedded one serves a single process/,
  );
});

it('passes the smoke test of deploy/', async () => {
  const { secret } = await deployment.newTenant();
  const env = { ...process.env, API_1: apis[0].url, API_2: apis[1].url, API_KEY: secret };
  const { stdout, stderr } = await promisify(execFile)(join(deployFolder, 'smoke.sh'), { env });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^All of it holds\.$/m);
});

it('fails the smoke test, with the step that does not hold, where something is wrong', async () => {
  const { secret } = await deployment.newTenant();
  const env = { ...process.env, API_1: apis[0].url, API_2: projectors[0]?.url, API_KEY: secret };
  await expect(promisify(execFile)(join(deployFolder, 'smoke.sh'), { env })).rejects.toMatchObject({
    code: expect.any(Number),
  });
});
