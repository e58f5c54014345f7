import { Metrics, migrations, Projectors } from '@palimpsest/application';
import type { EventStore, Position } from '@palimpsest/event-store';
import { createLogger, createPool, migrate, type Pool } from '@palimpsest/platform';
import { findLive, firstGeneration, LiveTables, type Projection } from '@palimpsest/read-models';
import { until } from './client';
import { createTestDatabase } from './database';

const log = createLogger('silent');
const PATIENCE_MS = 60_000;

/**
 * Builds every read model anew from the whole log, in a database of its own, and says where the ones that lived through it all differ. `own`:
 * those of an operator that live there too.
 */
export async function faultsOfReadModels(
  store: EventStore,
  live: Pool,
  own: readonly Projection[] = [],
): Promise<readonly string[]> {
  const database = await createTestDatabase();
  const scratch = createPool({ url: database.url, applicationName: 'rebuild', log });
  try {
    await migrate(scratch, [...migrations, ...own.map(firstGeneration)]);
    const end = await lastOfConversations(store);
    const models = own.map((projection) => ({ projection, tables: new LiveTables(scratch, projection) }));
    const projectors = new Projectors({ pool: scratch, store, log, metrics: new Metrics(), writes: true, own: models });
    projectors.start();
    for (const projector of projectors.all) while (projector.position < end) await projector.moved(1_000);
    await projectors.stop();
    const all = projectors.all.map(({ projection }) => projection);
    for (const projection of all)
      await until(async () => (await findLive(live, projection)).position >= end, PATIENCE_MS);
    return (await Promise.all(all.map((projection) => faultsOf(projection, live, scratch)))).flat();
  } finally {
    await scratch.end();
    await database.drop();
  }
}

async function lastOfConversations(store: EventStore): Promise<Position> {
  const filter = { streamPrefixes: ['conversation-'] };
  for await (const { position } of store.readAll({ direction: 'backwards', filter, limit: 1 })) return position;
  return -1n;
}

/** Compares the live generations of one projection in two databases: the very rows, and none besides. */
export async function faultsOf(projection: Projection, live: Pool, rebuilt: Pool): Promise<string[]> {
  const [there, here] = await Promise.all([findLive(live, projection), findLive(rebuilt, projection)]);
  const faults = (await tablesOf(rebuilt, here.schema)).map(async (table) => {
    const [lived, made] = await Promise.all([rowsOf(live, there.schema, table), rowsOf(rebuilt, here.schema, table)]);
    const [livedSet, madeSet] = [new Set(lived), new Set(made)];
    const repeated = lived.length === livedSet.size ? [] : [`${table} has rows twice`];
    return [
      ...repeated,
      ...made.filter((row) => !livedSet.has(row)).map((row) => `${table} lacks ${row}`),
      ...lived.filter((row) => !madeSet.has(row)).map((row) => `${table} has, and a rebuild has not: ${row}`),
    ];
  });
  return (await Promise.all(faults)).flat();
}

/** The checkpoint beside them is a view: how far one is says nothing about its rows. */
async function tablesOf(pool: Pool, schema: string): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select table_name::text as name from information_schema.tables where table_schema = $1::text and table_type = 'BASE TABLE'`,
    [schema],
  );
  return rows.map(({ name }) => name);
}

async function rowsOf(pool: Pool, schema: string, table: string): Promise<string[]> {
  const { rows } = await pool.query<{ row: string }>(`select to_jsonb(t)::text as row from ${schema}.${table} t`);
  return rows.map(({ row }) => row);
}
