import type { EventStore, StoredEvent } from '@palimpsest/event-store';
import type { Pool } from '@palimpsest/platform';
import { conversationTree, conversationTreeSchema } from '@palimpsest/read-models';

const tables = ['conversations_v1', 'turns_v1', 'nodes_v1', 'tool_calls_v1'] as const;
const keys = {
  conversations_v1: 'conversation_id',
  turns_v1: 'turn_id',
  nodes_v1: 'node_id',
  tool_calls_v1: 'tool_call_id',
};
const BATCH = 500;

/** Builds the node tree anew from the whole log, in another database, and compares it row by row with the one that lived through it all. */
export async function faultsOfTree(store: EventStore, live: Pool, scratch: Pool): Promise<readonly string[]> {
  const end = await store.lastPosition();
  await untilProjected(live, end);
  await rebuild(store, end, scratch);
  const faults: string[] = [];
  for (const table of tables) {
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
  for (const until = performance.now() + 15_000; performance.now() < until;) {
    const { rows } = await live.query<{ position: bigint }>('select position from read.checkpoints');
    if ((rows[0]?.position ?? -1n) >= end) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`The read model did not reach position ${end} within 15 s.`);
}

async function rebuild(store: EventStore, end: bigint, scratch: Pool): Promise<void> {
  const session = await scratch.connect();
  try {
    await session.query(`begin; drop schema if exists read cascade; ${conversationTreeSchema}`);
    let batch: StoredEvent[] = [];
    for await (const event of store.readAll({ filter: conversationTree.filter })) {
      if (event.position > end) break;
      batch.push(event);
      if (batch.length < BATCH) continue;
      await conversationTree.apply(batch, session);
      batch = [];
    }
    await conversationTree.apply(batch, session);
    await session.query('commit');
  } finally {
    session.release();
  }
}

async function rowsOf(pool: Pool, table: (typeof tables)[number]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ key: string; row: string }>(
    `select ${keys[table]}::text as key, to_jsonb(t)::text as row from read.${table} t`,
  );
  return new Map(rows.map(({ key, row }) => [key, row]));
}
