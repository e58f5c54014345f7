import { migrations } from '@palimpsest/application';
import type { EventStore, StoredEvent } from '@palimpsest/event-store';
import { migrate, type Pool } from '@palimpsest/platform';
import { conversationTree, findLive, LiveTables, tablesIn } from '@palimpsest/read-models';

/** With what names a row of each. */
const tables = {
  conversations_v1: 'conversation_id',
  turns_v1: 'turn_id',
  nodes_v1: 'node_id',
  tool_calls_v1: 'tool_call_id',
  clears_v1: 'clear_id',
  folds_v1: 'fold_id',
  tags_v1: 'tag_id',
} as const;
type Table = keyof typeof tables;

const BATCH = 500;
const PATIENCE_MS = 15_000;

/** Builds the node tree anew from the whole log, in another database, and compares it row by row with the one that lived through it all. */
export async function faultsOfTree(store: EventStore, live: Pool, scratch: Pool): Promise<readonly string[]> {
  const end = await store.lastPosition();
  await untilProjected(live, end);
  await rebuild(store, end, scratch);
  const faults: string[] = [];
  for (const table of Object.keys(tables) as Table[]) {
    const [lived, rebuilt] = await Promise.all([rowsOf(live, table), rowsOf(scratch, table)]);
    if (lived.size !== rebuilt.size) faults.push(`${table} has ${lived.size} rows, and ${rebuilt.size} when rebuilt`);
    for (const [key, row] of rebuilt) {
      const other = lived.get(key);
      if (other !== row) faults.push(`${table} ${key}: ${other}, and when rebuilt ${row}`);
    }
  }
  return faults;
}

async function untilProjected(live: Pool, end: bigint): Promise<void> {
  let reached = -1n;
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until;) {
    reached = (await findLive(live, conversationTree)).position;
    if (reached >= end) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`The read model is at position ${reached} and did not reach ${end} within ${PATIENCE_MS} ms.`);
}

async function rebuild(store: EventStore, end: bigint, scratch: Pool): Promise<void> {
  await migrate(scratch, migrations);
  const session = await scratch.connect();
  try {
    const { schema } = await findLive(scratch, conversationTree);
    const target = tablesIn(schema, session);
    const names = Object.keys(tables).map((table) => `read.${table}`);
    await target.query(`begin; truncate ${names.join(', ')}`);
    let batch: StoredEvent[] = [];
    for await (const event of store.readAll({ filter: conversationTree.filter })) {
      if (event.position > end) break;
      batch.push(event);
      if (batch.length < BATCH) continue;
      await conversationTree.apply(batch, target);
      batch = [];
    }
    await conversationTree.apply(batch, target);
    await session.query('commit');
  } finally {
    session.release(true);
  }
}

async function rowsOf(pool: Pool, table: Table): Promise<ReadonlyMap<string, string>> {
  const { rows } = await new LiveTables(pool, conversationTree).query<{ key: string; row: string }>(
    `select (${tables[table]})::text as key, to_jsonb(t)::text as row from read.${table} t`,
  );
  return new Map(rows.map(({ key, row }) => [key, row]));
}
