import { createLogger, createPool, type Pool } from '@palimpsest/platform';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database';
import { keepToOneLog, oneLogSchema } from './one-log';

let database: TestDatabase;
let pool: Pool;

beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, applicationName: 'test', log: createLogger('silent') });
  await pool.query(oneLogSchema);
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

it('keeps a database to the log that its first start named', async () => {
  await Promise.all([keepToOneLog(pool, { kind: 'postgres' }), keepToOneLog(pool, { kind: 'postgres' })]);
  const other = keepToOneLog(pool, { kind: 'eventstoredb' });
  await expect(other).rejects.toThrow('Unset EVENTSTORE_URL, or begin anew');
  await expect(keepToOneLog(pool, { kind: 'postgres' })).resolves.toBeUndefined();
});

it('keeps it to the namespace too', async () => {
  const ours = { kind: 'eventstoredb', namespace: 'ours' } as const;
  await keepToOneLog(pool, ours);
  for (const namespace of [undefined, 'theirs'])
    await expect(keepToOneLog(pool, { kind: 'eventstoredb', namespace })).rejects.toThrow(
      'a log in EventStoreDB, namespace ours, and EVENTSTORE_NAMESPACE says otherwise. Set it as it was',
    );
  await expect(keepToOneLog(pool, { kind: 'postgres' })).rejects.toThrow('EVENTSTORE_URL is not set. Set it');
  await expect(keepToOneLog(pool, ours)).resolves.toBeUndefined();
});
