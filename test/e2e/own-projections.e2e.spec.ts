import { Client as Session } from 'pg';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/child';
import { type Client, until } from '../support/client';
import { Deployment, type InnerProcess } from '../support/installation';
import { faultsOfReadModels } from '../support/rebuild';
import { palimpsest } from './cli-process';

jest.setTimeout(120_000);

let deployment: Deployment;
let process: InnerProcess;
let api: Client;
let stranger: Client;
let before: {
  readonly conversationId: string;
  readonly turnId: string;
  readonly assistantId: string;
  readonly position: string;
};
const folder = temporaryFolder();
const dir = join(folder.path, 'projections');

const say = (text: string) => `[[sim: say ${text}]]`;
const look = (text: string) => `[[sim: call lookup {"about":"${text}"}]]`;
const make = (...args: readonly string[]) =>
  palimpsest(['projections', 'new', ...args], { PALIMPSEST_PROJECTIONS_DIR: dir });

// History first, projections afterwards.
beforeAll(async () => {
  deployment = await Deployment.open();
  const earlier = await deployment.start();
  api = await deployment.client(earlier);
  const conversationId = await api.conversation(['lookup']);
  const { assistantId } = await api.get<{ assistantId: string }>(`/v1/conversations/${conversationId}`);
  const { turnId, position } = await api.ask(conversationId, look('prices'));
  before = { conversationId, turnId, assistantId, position };
  await earlier.close();
  for (const args of [['turns'], ['--example', 'token-cost'], ['--example', 'resting-answers']])
    expect(await make(...args)).toMatchObject({ end: 0, err: '' });
  writeFileSync(join(dir, 'broken.ts'), 'export default {');
  writeFileSync(join(dir, 'nameless.js'), 'module.exports = { version: 1, tables: {}, on: {} };');
  writeFileSync(join(dir, 'throws.mjs'), `throw new Error('not today');`);
  writeFileSync(join(dir, 'approvals.js'), `module.exports = { name: 'approvals', version: 1, tables: {}, on: {} };`);
  writeFileSync(
    join(dir, 'no-table.cjs'),
    `module.exports = { name: 'no-table', version: 1, on: {}, tables: { t: { columns: { a: 'nonsense' }, key: ['a'], erase: 'keep' } } };`,
  );
  writeFileSync(
    join(dir, 'no-column.cjs'),
    `module.exports = { name: 'no-column', version: 1, on: {}, tables: { t: { columns: { a: 'text' }, key: ['a'], erase: 'keep' } },
       query: { parameters: { a: { type: 'uuid' } }, sql: 'select b from read.t where a = :a::text' } };`,
  );
  writeFileSync(
    join(dir, 'shares.cjs'),
    `module.exports = { name: 'shares', version: 1, on: {}, tables: { t: { columns: { a: 'text' }, key: ['a'], erase: 'keep' } },
       query: { parameters: { of: { type: 'integer' }, day: { type: 'text' } }, sql: 'select 60 / :of as share, :day::date as day' } };`,
  );
  writeFileSync(
    join(dir, 'poisoned.cjs'),
    `module.exports = { name: 'poisoned', version: 1, tables: { t: { columns: { a: 'text not null' }, key: ['a'], erase: 'keep' } },
       on: { TurnStarted: async (event, tables) => { const { question } = await event.open(); if (question.includes('poison')) throw new Error(question);
         await tables.query('insert into read.t (a) values ($1::text)', [event.data.turnId]); } },
       query: { sql: 'select a from read.t' } };`,
  );
  process = await deployment.start({ PALIMPSEST_PROJECTIONS_DIR: dir });
  api = api.at(process);
  stranger = await deployment.client(process);
}, 120_000);
afterAll(async () => {
  await deployment.close();
  folder.remove();
});

interface Rows {
  readonly items: readonly Record<string, unknown>[];
}
const ask = (name: string, query = '', at = api) => at.get<Rows>(`/v1/projections/${name}/query${query}`);
const upTo = ({ position }: { readonly position: string }) => `minPosition=${position}`;

it('a projection that was added answers over all old history, while turns go on', async () => {
  const turn = await api.ask(before.conversationId, say('after'));
  const { items } = await ask('token-cost', `?${upTo(turn)}`);
  const {
    total: { usage: total },
  } = await api.usage(before.conversationId, turn.revision);
  expect(items).toEqual([
    {
      ...{ assistant_id: before.assistantId, month: new Date().toISOString().slice(0, 7), calls: '3' },
      ...{ input_tokens: String(total.inputTokens), cached_input_tokens: String(total.cachedInputTokens) },
      output_tokens: String(total.outputTokens),
    },
  ]);
  expect(await ask('token-cost', `?assistant=${before.turnId}`)).toMatchObject({ items: [] });
  const started = await ask('turns', `?${upTo(turn)}`);
  expect(started.items).toMatchObject([{ turns: 2, completed: 2, question: expect.stringMatching(/prices|after/) }]);
});

it('every answer that rested on a given tool result', async () => {
  const { items } = await ask('resting-answers', `?tool=lookup&${upTo(before)}`);
  expect(items).toMatchObject([
    {
      ...{ conversation_id: before.conversationId, turn_id: before.turnId, tool: 'lookup' },
      question: look('prices'),
      completed_at: expect.any(String),
    },
  ]);
  const toolCall = String(items[0]?.['tool_call_id']);
  expect(await ask('resting-answers', `?toolCall=${toolCall}`)).toEqual({ items, next: null, cut: false });
  expect((await ask('resting-answers', '?toolCall=another')).items).toEqual([]);
});

it('G10: gives a tenant its own rows, whatever it asks for and whatever the SQL says', async () => {
  for (const name of ['token-cost', 'resting-answers', 'turns', 'poisoned'])
    expect((await ask(name, '', stranger)).items).toEqual([]);
  expect(await stranger.send('GET', '/v1/projections/token-cost/query?tenant_id=x')).toMatchObject({
    status: 400,
    body: { code: 'validation_failed', detail: 'The parameter tenant_id is not known here.' },
  });
  expect(await api.send('GET', '/v1/projections/token-cost/query?toString=x')).toMatchObject({ status: 400 });
  expect(await api.send('GET', '/v1/projections/token-cost/query?assistant=x')).toMatchObject({
    status: 400,
    body: { code: 'validation_failed', detail: 'The parameter assistant must be of the type uuid.' },
  });
  expect(await api.send('GET', '/v1/projections/conversation-tree/query')).toMatchObject({ status: 404 });
});

it('a value that a query cannot take is the caller’s fault, and what else it cannot do is its own', async () => {
  const answered = (query: string) => api.send('GET', `/v1/projections/shares/query?${query}`);
  expect(await answered('of=20&day=2026-11-30')).toMatchObject({ status: 200, body: { items: [{ share: '3' }] } });
  for (const query of ['of=20&day=2026-11-31', 'of=20&day=today-ish', 'of=1e3', 'of=99999999999999999999', 'day=%00'])
    expect(await answered(query)).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
  expect(await answered('of=0')).toMatchObject({
    status: 500,
    body: {
      code: 'query_failed',
      detail:
        'The query of the projection shares failed with the SQLSTATE 22012. Whoever keeps that projection mends its SQL and starts again.',
    },
  });
});

it('stands in the description, with its parameters', async () => {
  const { paths } = await api.get<{ paths: Record<string, { get: { parameters: { name: string }[] } }> }>(
    '/openapi.json',
  );
  expect(paths['/v1/projections/token-cost/query']?.get.parameters.map(({ name }) => name)).toEqual([
    'assistant',
    'from',
    'minPosition',
  ]);
  expect(paths).not.toHaveProperty(['/v1/projections/{name}/query']);
});

it('a file that is no projection is one clear sentence, and keeps nobody from anything', () => {
  const sentences = process.installation.notes
    .filter((note) => note.includes('left out'))
    .map((note) => note.replace(folder.path, ''));
  expect(sentences.sort()).toEqual([
    'The projection /projections/approvals.js is left out: another projection has the name approvals.',
    expect.stringMatching(/^The projection \/projections\/broken\.ts is left out: line 1: '}' expected\.$/),
    expect.stringMatching(/^The projection \/projections\/nameless\.js is left out: name: .*\.$/),
    'The projection /projections/throws.mjs is left out: not today.',
    'The projection no-column is left out: its query cannot be answered: column "b" does not exist. Mend it and start again.',
    'The projection no-table is left out: its tables could not be made: type "nonsense" does not exist. Nothing was changed.',
  ]);
  expect(existsSync(join(dir, 'palimpsest.d.ts'))).toBe(true);
});

it('writes no projection under a name that is Palimpsest’s own', async () => {
  expect(await make('approvals')).toMatchObject({
    end: 2,
    err: 'Palimpsest has a projection approvals of its own. Give yours another name.\n',
  });
});

it('an event that a handler of yours cannot take parks its conversation there alone, without a word of it', async () => {
  const conversationId = await api.conversation();
  const turn = await api.ask(conversationId, say('canary-poison'));
  const { items } = await api.get<{ items: { name: string; parked: { stream: string; reason: string }[] }[] }>(
    '/v1/projections',
  );
  await until(async () => (await deployment.pool.query('select from read.parked')).rowCount === 1);
  expect(items.find(({ name }) => name === 'conversation-tree')?.parked).toEqual([]);
  const { rows } = await deployment.pool.query<{ stream: string; reason: string }>(
    'select stream, reason from read.parked',
  );
  expect(rows).toEqual([
    { stream: `conversation-${conversationId}`, reason: expect.stringMatching(/^Error at poisoned\.cjs:\d+$/) },
  ]);
  expect((await ask('turns', `?${upTo(turn)}`)).items).toMatchObject([{ turns: 3 }]);
  expect(readFileSync(join(dir, 'poisoned.cjs'), 'utf8')).toContain('throw');
});

it('G02, P09: an erased conversation leaves its rows, its sums stay, and a rebuild gives the very same', async () => {
  const conversationId = await api.conversation(['lookup']);
  await api.ask(conversationId, look('canary'));
  const removed = await api.remove(conversationId);
  await ask('turns', `?${upTo(removed)}`);
  await ask('resting-answers', `?${upTo(removed)}`);
  const { items: spent } = await ask('token-cost', `?${upTo(removed)}`);
  expect(spent).toHaveLength(3);
  const session = new Session({ connectionString: deployment.database.url });
  await session.connect();
  try {
    const rowsOf = async (generation: number) => {
      const found: string[] = [];
      for (const table of [
        'turns_v1_g#.turns_rows',
        'resting_answers_v1_g#.calls_rows',
        'resting_answers_v1_g#.questions_rows',
        'token_cost_v1_g#.spent_rows',
        'token_cost_v1_g#.conversations_rows',
      ]) {
        const { rows } = await session.query<{ row: string }>(
          `select to_jsonb(t)::text as row from read_${table.replace('#', String(generation))} t order by 1`,
        );
        found.push(table, ...rows.map(({ row }) => row));
      }
      return found;
    };
    expect((await rowsOf(1)).join()).not.toContain(conversationId);
    const operator = api;
    for (const name of ['turns', 'resting-answers', 'token-cost'])
      expect((await operator.send('POST', `/v1/projections/${name}/rebuild`)).status).toBe(201);
    await until(async () => {
      const { rows } = await session.query(`select from read.generations where state = 'building'`);
      return rows.length === 0;
    });
    expect(await rowsOf(2)).toEqual(await rowsOf(1));
    expect((await ask('token-cost')).items).toEqual(spent);
  } finally {
    await session.end();
  }
});

it('every projection, the shipped examples among them, is what a rebuild makes of the log', async () => {
  const { own, store } = process.installation.running.system;
  // What `poisoned` keeps of an erased conversation, a rebuild can't open any more.
  const models = own.models.filter(({ definition }) => definition.name !== 'poisoned');
  expect(models.map(({ definition }) => definition.name)).toEqual(['resting-answers', 'shares', 'token-cost', 'turns']);
  expect(
    await faultsOfReadModels(
      store,
      deployment.pool,
      models.map(({ projection }) => projection),
    ),
  ).toEqual([]);
});

it('tables that changed without their version are said, and a higher version is built beside', async () => {
  const source = readFileSync(join(dir, 'turns.ts'), 'utf8');
  writeFileSync(join(dir, 'turns.ts'), source.replace(`ended: 'text'`, `ended: 'text', more: 'text'`));
  const changed = await deployment.start({ PALIMPSEST_PROJECTIONS_DIR: dir });
  expect(changed.installation.notes).toContainEqual(
    'The projection turns is left out: its tables are not those that its version has in this database. Raise its version.',
  );
  await changed.close();
  writeFileSync(join(dir, 'turns.ts'), readFileSync(join(dir, 'turns.ts'), 'utf8').replace('version: 1', 'version: 2'));
  const raised = await deployment.start({ PALIMPSEST_PROJECTIONS_DIR: dir });
  const turn = await api.ask(before.conversationId, say('once more'));
  const { items } = await ask('turns', `?${upTo(turn)}`);
  expect(items).toMatchObject([{ turns: 4 }]);
  expect((await ask('turns', `?${upTo(turn)}`, api.at(raised))).items).toEqual(items);
});
