import { createTestDatabase, type TestDatabase } from '../../../test/support/database';
import { createLogger } from './logger';
import { createPool, isDatabaseAway, withTransaction, type Pool } from './pg';

let database: TestDatabase;
let pool: Pool;
const lines: string[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const log = createLogger('warn', { write: (line) => void lines.push(line) });
  pool = createPool({ url: database.url, applicationName: 'pg-spec', log, max: 3 });
  await pool.query('create table kept (n int8 primary key)');
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((wait) => setTimeout(wait, 5));
}

const kept = async (): Promise<unknown[]> =>
  (await pool.query<{ n: bigint }>('select n from kept order by n')).rows.map(({ n }) => n);

it('reads and writes int8 as bigint, alone and in arrays', async () => {
  const big = 9_007_199_254_740_993n;
  const { rows } = await pool.query(
    'select $1::int8 as one, array[$1::int8, null] as many, 1::int4 as small, null::int8 as none',
    [big],
  );
  expect(rows).toEqual([{ one: big, many: [big, null], small: 1, none: null }]);
});

it('says its name to the server and bounds every statement', async () => {
  const { rows } =
    await pool.query(`select current_setting('application_name') as name, current_setting('statement_timeout') as statement,
    current_setting('lock_timeout') as lock, current_setting('idle_in_transaction_session_timeout') as idle`);
  expect(rows).toEqual([{ name: 'pg-spec', statement: '30s', lock: '10s', idle: '30s' }]);
});

it('commits what was done together, and nothing of it where something failed', async () => {
  await withTransaction(pool, (client) => client.query('insert into kept values (1)'));
  const failed = withTransaction(pool, async (client) => {
    await client.query('insert into kept values (2)');
    throw new Error('no');
  });
  await expect(failed).rejects.toThrow('no');
  expect(await kept()).toEqual([1n]);
});

it('does not take for committed what Postgres rolled back', async () => {
  const swallowed = withTransaction(pool, async (client) => {
    await client.query('insert into kept values (3)');
    await client.query('insert into kept values (3)').catch(() => undefined);
  });
  await expect(swallowed).rejects.toThrow('Postgres answered ROLLBACK');
  expect(await kept()).toEqual([1n]);
});

it('goes on with a new connection after the server ended one, busy or idle', async () => {
  const cut = withTransaction(pool, async (client) => {
    await client.query('select pg_terminate_backend(pg_backend_pid())');
  });
  await expect(cut).rejects.toThrow();
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const other = createPool({ url: database.url, applicationName: 'other', log: { warn: () => undefined } as never });
  await other.query('select pg_terminate_backend($1::int4)', [rows[0]?.pid]);
  await other.end();
  await until(() => lines.join().includes('an idle connection to Postgres broke'));
  expect(await kept()).toEqual([1n]);
});

it('a connection that breaks while it is lent out and idle ends nothing, and is known as the database being away', async () => {
  const lent = await pool.connect();
  const { rows } = await lent.query<{ pid: number }>('select pg_backend_pid() as pid');
  const broke = new Promise<void>((resolve) => lent.once('end', resolve));
  await pool.query('select pg_terminate_backend($1::int)', [rows[0]?.pid]);
  await broke;
  const broken: unknown = await lent.query('select 1').catch((error: unknown) => error);
  lent.release(true);
  expect(isDatabaseAway(broken)).toBe(true);
  const mistake: unknown = await pool.query('select nothing from nowhere').catch((error: unknown) => error);
  expect(isDatabaseAway(mistake)).toBe(false);
  const nowhere = createPool({
    url: 'postgres://127.0.0.1:1/x',
    applicationName: 'pg-spec',
    log: { warn: () => undefined },
  });
  expect(isDatabaseAway(await nowhere.query('select 1').catch((error: unknown) => error))).toBe(true);
  await nowhere.end();
});
