import { Pool } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database';
import { codecFor, context, FaultyStore, type Ledger, ledger } from '../../testing';
import { InMemoryEventStore } from '../memory-event-store';
import { createHandler } from './handle';
import { PostgresSnapshotStore, snapshotsSchema } from './postgres-snapshot-store';

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = new Pool({ connectionString: database.url });
  await pool.query(snapshotsSchema);
  await pool.query(snapshotsSchema);
});

afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('snapshots in Postgres', () => {
  it('keep one row a stream, the latest of its version', async () => {
    const store = new PostgresSnapshotStore(pool);
    const row = (version: number, revision: bigint) => ({
      stream: 's',
      version,
      revision,
      sealed: `${version}@${revision}`,
    });
    expect(await store.read('s')).toBeNull();
    for (const next of [row(1, 10n), row(1, 30n), row(1, 20n)]) await store.replace(next);
    expect(await store.read('s')).toEqual(row(1, 30n));
    await store.replace(row(2, 5n));
    expect(await store.read('s')).toEqual(row(2, 5n));
    await store.remove('s');
    await store.remove('s');
    expect(await store.read('s')).toBeNull();
  });

  it('spare a cold process the events before them, and hold nothing in the clear', async () => {
    const log = new InMemoryEventStore();
    const codec = await codecFor(log, '1');
    const snapshots = {
      store: new PostgresSnapshotStore(pool),
      version: 1,
      serialize: (state: Ledger) => state,
      deserialize: (state: Ledger) => state,
      every: 50,
    };
    const make = (store: FaultyStore) => createHandler({ store, codec, decider: ledger, snapshots });
    const writer = make(new FaultyStore(log));
    for (let i = 0; i < 120; i += 1) await writer.handle('conversation-1', { amount: 1, key: `canary-${i}` }, context);
    await writer.idle();
    const store = new FaultyStore(log);
    const read = await make(store).read('conversation-1', context.tenantId);
    expect(read).toMatchObject({ state: { sum: 120 }, revision: 119n, position: 119n });
    expect(store.eventsRead).toBe(21);
    const { rows } = await pool.query(`select sealed from read.snapshots where stream = 'conversation-1'`);
    expect(rows[0].sealed).toMatch(/^b1\./);
  });
});
