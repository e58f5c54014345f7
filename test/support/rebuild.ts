import { Metrics, migrations, Projectors } from '@palimpsest/application';
import type { EventStore, Position } from '@palimpsest/event-store';
import { createLogger, createPool, migrate, type Pool } from '@palimpsest/platform';
import { findLive, firstGeneration, LiveTables, type Projection } from '@palimpsest/read-models';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase } from './database';

const log = createLogger('silent');
/** A rebuild that has not moved for so long is at a stand, and a projector that is not at the end after it lags. */
const PATIENCE_MS = 15_000;
/** Comparisons, where the log moved on during each. */
const MOST_TRIES = 5;

interface Models {
  readonly store: EventStore;
  /** An operator's own, where the installation has some. */
  readonly own?: readonly Projection[];
  /** The ones that lived through it all. */
  readonly pool: Pool;
  /** Where they are built anew. */
  readonly scratch: Pool;
}

interface Since {
  readonly after: Position;
  readonly conversations: readonly string[];
}

/** `faultsOfRebuild` of the whole log, in a database of its own. */
export async function faultsOfReadModels(
  store: EventStore,
  pool: Pool,
  own: readonly Projection[] = [],
): Promise<readonly string[]> {
  const database = await createTestDatabase();
  const scratch = createPool({ url: database.url, applicationName: 'rebuild', log });
  try {
    return await faultsOfRebuild({ store, pool, scratch, own });
  } finally {
    await scratch.end();
    await database.drop();
  }
}

/**
 * Builds the read models anew from what stands behind a position, and says where the ones that lived differ. `conversations` are those that
 * began behind it: their rows alone are compared. Left out: all rows, and the whole log.
 */
export async function faultsOfRebuild(models: Models, since?: Since): Promise<readonly string[]> {
  for (let tries = 1; ; tries += 1) {
    const { end, faults } = await compared(models, since);
    // What a process appended of itself meanwhile is in the ones that lived alone: then nothing is said of either.
    if (faults.length === 0 || tries === MOST_TRIES || (await lastOfConversations(models.store)) === end) return faults;
  }
}

/** Up to an end of the log. */
async function compared(
  { store, pool, scratch, own = [] }: Models,
  since: Since | undefined,
): Promise<{ readonly end: Position; readonly faults: readonly string[] }> {
  await migrate(scratch, [...migrations, ...own.map(firstGeneration)]);
  const models = own.map((projection) => ({ projection, tables: new LiveTables(scratch, projection) }));
  const projectors = new Projectors({ pool: scratch, store, log, metrics: new Metrics(), writes: true, own: models });
  const all = projectors.all.map(({ projection }) => projection);
  for (const projection of all) await beginAt(scratch, projection, since?.after ?? -1n);
  const end = await lastOfConversations(store);
  projectors.start();
  try {
    for (const projector of projectors.all)
      await comeTo(end, async () => projector.position, { who: `The rebuild of ${projector.projection.name}`, asItMoves: true }); // prettier-ignore
  } finally {
    await projectors.stop();
  }
  const faults: string[] = [];
  for (const projection of all) {
    const position = async () => (await findLive(pool, projection)).position;
    await comeTo(end, position, { who: `The projector of ${projection.name}` });
    faults.push(...(await faultsOf(projection, pool, scratch, since?.conversations ?? null)));
  }
  return { end, faults };
}

/** Empty, as one that has come so far. */
async function beginAt(scratch: Pool, projection: Projection, position: Position): Promise<void> {
  const { schema } = await findLive(scratch, projection);
  const tables = (await tablesOf(scratch, schema)).map(({ name }) => `${schema}.${name}`);
  await scratch.query(`truncate ${tables.join(', ')}`);
  await scratch.query('delete from read.parked where schema = $1::text', [schema]);
  await scratch.query('update read.generations set position = $1::bigint where schema = $2::text', [position, schema]);
}

async function lastOfConversations(store: EventStore): Promise<Position> {
  const filter = { streamPrefixes: ['conversation-'] };
  for await (const { position } of store.readAll({ direction: 'backwards', filter, limit: 1 })) return position;
  return -1n;
}

/** `asItMoves`: it may take its time as long as it goes on. */
export async function comeTo(
  end: Position,
  position: () => Promise<Position>,
  { who, asItMoves = false, patienceMs = PATIENCE_MS }: { readonly who: string; readonly asItMoves?: boolean; readonly patienceMs?: number }, // prettier-ignore
): Promise<void> {
  for (let [last, since] = [-2n, performance.now()]; ; await sleep(10)) {
    const reached = await position();
    if (reached >= end) return;
    if (asItMoves && reached !== last) [last, since] = [reached, performance.now()];
    if (performance.now() - since > patienceMs)
      throw new Error(`${who} is at ${reached} after ${patienceMs} ms, and the log goes to ${end}.`);
  }
}

/** Compares the live generations of one projection in two databases: the very rows, none besides, and none that is parked. */
async function faultsOf(
  projection: Projection,
  pool: Pool,
  scratch: Pool,
  conversations: readonly string[] | null,
): Promise<readonly string[]> {
  const [there, here] = await Promise.all([findLive(pool, projection), findLive(scratch, projection)]);
  const { rows: parked } = await pool.query<{ stream: string; reason: string }>(
    'select stream, reason from read.parked where schema = $1::text',
    [there.schema],
  );
  const faults = parked.map(({ stream, reason }) => `${there.schema} has parked ${stream}: ${reason}`);
  for (const table of await tablesOf(scratch, here.schema)) {
    const [lived, made] = await Promise.all([
      rowsOf(pool, there.schema, table, conversations),
      rowsOf(scratch, here.schema, table, conversations),
    ]);
    const [livedSet, madeSet] = [new Set(lived), new Set(made)];
    if (lived.length !== livedSet.size) faults.push(`${table.name} has rows twice`);
    faults.push(...made.filter((row) => !livedSet.has(row)).map((row) => `${table.name} lacks ${row}`));
    const besides = lived.filter((row) => !madeSet.has(row));
    faults.push(...besides.map((row) => `${table.name} has, and a rebuild has not: ${row}`));
  }
  return faults;
}

interface Table {
  readonly name: string;
  /** Else its rows belong to a node. */
  readonly byConversation: boolean;
}

/** The checkpoint beside them is a view: how far one is says nothing about its rows. */
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
): Promise<readonly string[]> {
  const nodes = `select n.node_id from ${schema}.nodes_v1 n where n.conversation_id = any ($1::uuid[])`;
  const isTheirs = byConversation ? 't.conversation_id = any ($1::uuid[])' : `t.node_id in (${nodes})`;
  const { rows } = await pool.query<{ row: string }>(
    `select to_jsonb(t)::text as row from ${schema}.${name} t ${conversations ? `where ${isTheirs}` : ''}`,
    conversations ? [conversations] : [],
  );
  return rows.map(({ row }) => row);
}
