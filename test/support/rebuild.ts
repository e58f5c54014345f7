import { createProjectors, Metrics, migrations } from '@palimpsest/application';
import type { EventStore } from '@palimpsest/event-store';
import { createLogger, createPool, migrate, type Pool } from '@palimpsest/platform';
import { createTestDatabase } from './database';

const log = createLogger('silent');

/** Builds every read model anew from the whole log, in a database of its own, and says where the ones that lived through it all differ. */
export async function faultsOfReadModels(store: EventStore, live: Pool): Promise<readonly string[]> {
  const database = await createTestDatabase();
  const scratch = createPool({ url: database.url, applicationName: 'rebuild', log });
  try {
    await migrate(scratch, migrations);
    const end = await store.lastPosition();
    const projectors = Object.values(
      createProjectors({ pool: scratch, store, log, metrics: new Metrics(), writes: true }),
    );
    for (const projector of projectors) projector.start();
    for (const projector of projectors) while (projector.position < end) await projector.moved(1_000);
    await Promise.all(projectors.map((projector) => projector.stop()));
    const faults = await Promise.all((await tablesOf(scratch)).map((table) => faultsOf(table, live, scratch)));
    return faults.flat();
  } finally {
    await scratch.end();
    await database.drop();
  }
}

/** All that projections write: checkpoints say how far one is, and snapshots belong to the write side. */
async function tablesOf(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select table_name::text as name from information_schema.tables
     where table_schema = 'read' and table_name not in ('checkpoints', 'snapshots')`,
  );
  return rows.map(({ name }) => name);
}

async function faultsOf(table: string, live: Pool, scratch: Pool): Promise<string[]> {
  const [lived, rebuilt] = await Promise.all([rowsOf(table, live), rowsOf(table, scratch)]);
  return [
    ...rebuilt.filter((row) => !lived.includes(row)).map((row) => `${table} lacks ${row}`),
    ...lived.filter((row) => !rebuilt.includes(row)).map((row) => `${table} has, and a rebuild has not: ${row}`),
  ];
}

async function rowsOf(table: string, pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ row: string }>(`select to_jsonb(t)::text as row from read.${table} t`);
  return rows.map(({ row }) => row);
}
