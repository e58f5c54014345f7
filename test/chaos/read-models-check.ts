import { Metrics, migrations, Projectors } from '@palimpsest/application';
import type { EventStore, Position } from '@palimpsest/event-store';
import { createLogger, migrate, type Pool } from '@palimpsest/platform';
import { findLive, firstGeneration, LiveTables, type Projection } from '@palimpsest/read-models';
import { setTimeout as sleep } from 'node:timers/promises';

const log = createLogger('silent');
/** A long run's log takes a while, beside whatever else the machine does. */
const PATIENCE_MS = 600_000;

interface Models {
  readonly store: EventStore;
  /** The operator's own, where the installation has some. */
  readonly own?: readonly Projection[];
  /** The ones that lived through it all. */
  readonly pool: Pool;
  /** Where they are built anew. */
  readonly scratch: Pool;
}

/**
 * Builds the read models anew from what stands behind a position, and says where the ones that lived differ. `conversations` are those that
 * began behind it: their rows alone are compared. Left out: all rows, and the whole log.
 */
export async function faultsOfRebuild(
  { store, pool, scratch, own = [] }: Models,
  since?: { readonly after: Position; readonly conversations: readonly string[] },
): Promise<readonly string[]> {
  await migrate(scratch, [...migrations, ...own.map(firstGeneration)]);
  const models = own.map((projection) => ({ projection, tables: new LiveTables(scratch, projection) }));
  const projectors = new Projectors({ pool: scratch, store, log, metrics: new Metrics(), writes: true, own: models });
  for (const { projection } of projectors.all) await beginAt(scratch, projection, since?.after ?? -1n);
  const end = await lastOfConversations(store);
  projectors.start();
  try {
    await within(async () => projectors.all.every(({ position }) => position >= end), 'The rebuild');
  } finally {
    await projectors.stop();
  }
  const faults: string[] = [];
  for (const { projection } of projectors.all) {
    await within(async () => (await findLive(pool, projection)).position >= end, `The projector of ${projection.name}`);
    faults.push(...(await faultsOf(projection, pool, scratch, since?.conversations ?? null)));
  }
  const { rows } = await pool.query<{ stream: string; reason: string }>('select stream, reason from read.parked');
  return [...faults, ...rows.map(({ stream, reason }) => `${stream} is parked: ${reason}`)];
}

/** Empty, as one that has come so far. */
async function beginAt(scratch: Pool, projection: Projection, position: Position): Promise<void> {
  const { schema } = await findLive(scratch, projection);
  const tables = (await tablesOf(scratch, schema)).map(({ name }) => `${schema}.${name}`);
  await scratch.query(`truncate ${tables.join(', ')}`);
  await scratch.query('update read.generations set position = $1::bigint where schema = $2::text', [position, schema]);
}

async function lastOfConversations(store: EventStore): Promise<Position> {
  const filter = { streamPrefixes: ['conversation-'] };
  for await (const { position } of store.readAll({ direction: 'backwards', filter, limit: 1 })) return position;
  return -1n;
}

async function within(holds: () => Promise<boolean>, who: string): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await holds());) {
    if (performance.now() > end) throw new Error(`${who} did not come to the log's end within ${PATIENCE_MS} ms.`);
    await sleep(10);
  }
}

async function faultsOf(
  projection: Projection,
  pool: Pool,
  scratch: Pool,
  conversations: readonly string[] | null,
): Promise<readonly string[]> {
  const [there, here] = await Promise.all([findLive(pool, projection), findLive(scratch, projection)]);
  const faults: string[] = [];
  for (const table of await tablesOf(scratch, here.schema)) {
    const [lived, rebuilt] = await Promise.all([
      rowsOf(pool, there.schema, table, conversations),
      rowsOf(scratch, here.schema, table, conversations),
    ]);
    for (const row of rebuilt) if (!lived.has(row)) faults.push(`${table.name} lacks ${row}`);
    for (const row of lived) if (!rebuilt.has(row)) faults.push(`${table.name} has, and a rebuild has not: ${row}`);
  }
  return faults;
}

interface Table {
  readonly name: string;
  /** Else its rows belong to a node. */
  readonly byConversation: boolean;
}

async function tablesOf(pool: Pool, schema: string): Promise<readonly Table[]> {
  const { rows } = await pool.query<Table>(
    `select t.table_name::text as name, exists (
       select from information_schema.columns c
       where c.table_schema = t.table_schema and c.table_name = t.table_name and c.column_name = 'conversation_id'
     ) as "byConversation"
     from information_schema.tables t where t.table_schema = $1::text and t.table_type = 'BASE TABLE'`,
    [schema],
  );
  return rows;
}

async function rowsOf(
  pool: Pool,
  schema: string,
  { name, byConversation }: Table,
  conversations: readonly string[] | null,
): Promise<ReadonlySet<string>> {
  const nodes = `select n.node_id from ${schema}.nodes_v1 n where n.conversation_id = any ($1::uuid[])`;
  const isTheirs = byConversation ? 't.conversation_id = any ($1::uuid[])' : `t.node_id in (${nodes})`;
  const { rows } = await pool.query<{ row: string }>(
    `select to_jsonb(t)::text as row from ${schema}.${name} t ${conversations ? `where ${isTheirs}` : ''}`,
    conversations ? [conversations] : [],
  );
  return new Set(rows.map(({ row }) => row));
}
