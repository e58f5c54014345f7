import { createTestDatabase, type TestDatabase } from '../../../test/support/database';
import { createLogger } from './logger';
import { migrate, type Migration } from './migrate';
import { createPool, type Pool } from './pg';

const one: Migration = { name: 'a/001', sql: 'create table first (n int4)' };
const two: Migration = { name: 'a/002', sql: 'alter table first add column m int4; create table second (n int4)' };

let database: TestDatabase;
let pool: Pool;

beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, applicationName: 'migrate-spec', log: createLogger('silent') });
});

afterEach(async () => {
  await pool.end();
  await database.drop();
});

it('applies what is missing, in order, and nothing twice', async () => {
  expect(await migrate(pool, [one])).toEqual(['a/001']);
  expect(await migrate(pool, [one, two])).toEqual(['a/002']);
  expect(await migrate(pool, [one, two])).toEqual([]);
});

it('lets processes start together: one migrates, the others wait and find it done', async () => {
  const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(pool, [one, two])));
  expect(applied.flat().sort()).toEqual(['a/001', 'a/002']);
});

it('changes nothing where one step fails, and says which', async () => {
  const wrong: Migration = { name: 'a/003', sql: 'create table third (n int4); select no_such_function()' };
  await expect(migrate(pool, [one, wrong])).rejects.toThrow(
    /^Migration a\/003 failed: .*no_such_function.* Nothing was changed\.$/,
  );
  expect(await migrate(pool, [one])).toEqual(['a/001']);
});

it('refuses a migration that was edited after it was applied, but not one that was laid out anew', async () => {
  await migrate(pool, [one]);
  await migrate(pool, [{ ...one, sql: `\n  create table first (\n    n int4)`.replace('(\n    n', '(n') }]);
  await expect(migrate(pool, [{ ...one, sql: 'create table first (n int8)' }])).rejects.toThrow(
    'Migration a/001 was changed',
  );
});

it('leaves alone what another part of the installation recorded', async () => {
  await migrate(pool, [one]);
  expect(await migrate(pool, [{ name: 'b/001', sql: 'select 1' }])).toEqual(['b/001']);
});
