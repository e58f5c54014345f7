import { randomUUID } from 'node:crypto';
import { createLogger, createPool, type Pool } from '@palimpsest/platform';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database';
import { Leases, leasesSchema } from './leases';

describe('leases', () => {
  let database: TestDatabase;
  let pool: Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.url, applicationName: 'test', log: createLogger('silent'), max: 1 });
    await pool.query(leasesSchema);
  });

  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  it('live from their insert to their end, and longer where they are renewed', async () => {
    const [long, brief] = [new Leases(pool, 60_000), new Leases(pool, 1)];
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    await long.insert(first, randomUUID(), randomUUID());
    await brief.insert(second, randomUUID(), randomUUID());
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await long.living([first, second, third])).toEqual(new Set([first]));
    await long.renew([second, third]);
    expect(await long.living([first, second, third])).toEqual(new Set([first, second]));
    await long.delete([first]);
    expect(await long.living([first, second])).toEqual(new Set([second]));
  });

  it('of carriers that died are cleared away long after they lapsed, and no others', async () => {
    await pool.query('truncate ops.leases');
    const [long, brief] = [new Leases(pool, 60_000), new Leases(pool, 1)];
    const [living, lapsed, dead] = [randomUUID(), randomUUID(), randomUUID()];
    await long.insert(living, randomUUID(), randomUUID());
    for (const carrier of [lapsed, dead]) await brief.insert(carrier, randomUUID(), randomUUID());
    await pool.query(`update ops.leases set expires_at = now() - interval '2 hours' where carrier = $1::uuid`, [dead]);
    await long.deleteLapsed(3_600_000);
    const { rows } = await pool.query<{ carrier: string }>('select carrier::text from ops.leases');
    expect(new Set(rows.map(({ carrier }) => carrier))).toEqual(new Set([living, lapsed]));
  });

  it('leave a connection as durable as it was', async () => {
    const leases = new Leases(pool, 60_000);
    const carrier = randomUUID();
    await leases.insert(carrier, randomUUID(), randomUUID());
    await leases.renew([carrier]);
    await leases.delete([carrier]);
    expect((await pool.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);
  });
});
