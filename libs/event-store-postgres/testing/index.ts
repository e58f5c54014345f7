import type { EventStore } from '@palimpsest/event-store';
import { Pool } from 'pg';
import { createTestDatabase } from '../../../test/support/database';
import { PostgresEventStore, type PostgresEventStoreLimits } from '../src';

/** A log in a database of its own, with the means to disturb it. */
export interface TestLog {
  readonly store: PostgresEventStore;
  /** For statements beside the store. */
  readonly admin: Pool;
  /** A store with a pool of its own on the same log, as another process has it. Closing it ends its pool. */
  another(limits?: Partial<PostgresEventStoreLimits>): PostgresEventStore;
  /** Ends every connection of the stores, as an operator or a crash of their backends does. */
  cutConnections(): Promise<void>;
  dispose(): Promise<void>;
}

const STORES = 'event-log-under-test';

export async function openLog(limits: Partial<PostgresEventStoreLimits> = {}): Promise<TestLog> {
  const database = await createTestDatabase();
  const admin = new Pool({ connectionString: database.url, max: 4 });
  admin.on('error', () => undefined);
  await PostgresEventStore.migrate(admin);

  const another = (own: Partial<PostgresEventStoreLimits> = limits): PostgresEventStore => {
    const pool = new Pool({ connectionString: database.url, application_name: STORES, max: 10 });
    // The second covers a connection that is cut in the instant between being lent out and being held: the pool's own no longer does.
    pool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
    return endingPool(new PostgresEventStore(pool, own), pool);
  };
  const store = another();
  return {
    store,
    admin,
    another,
    cutConnections: async () => {
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1::text and datname = current_database()`,
        [STORES],
      );
    },
    dispose: async () => {
      await store.close();
      await admin.end();
      await database.drop();
    },
  };
}

function endingPool<S extends EventStore>(store: S, pool: Pool): S {
  const close = store.close.bind(store);
  let closed: Promise<void> | undefined;
  store.close = () => (closed ??= close().then(() => pool.end()));
  return store;
}
