import type { StoredEvent } from '@palimpsest/event-store';
import { newestShape } from '../newest-shape';
import type { Projection, Tables } from '../projection';
import { type Row, type Rows, TreeChanges } from './rows';
import {
  conversationTreeSchema,
  foldsSchema,
  segmentsSchema,
  tagsSchema,
  transcriptSchema,
  usageSchema,
} from './schema';
import {
  calls,
  clears,
  conversations,
  failedAttempts,
  folds,
  nodes,
  segments,
  type Table,
  tags,
  turns,
  usage,
} from './shapes';

/** A row may be written twice (a queued turn that starts), so an insert overwrites. */
async function insert(transaction: Tables, table: Table, rows: readonly Row[]): Promise<void> {
  if (!rows.length) return;
  const names = Object.keys(table.columns);
  const shape = names.map((name) => `${name} ${table.columns[name]}`).join(', ');
  const overwrite = names.filter((name) => name !== table.key).map((name) => `${name} = excluded.${name}`);
  await transaction.query(
    `insert into ${table.name} (${names.join(', ')})
     select ${names.join(', ')} from jsonb_to_recordset($1::jsonb) as fresh (${shape})
     on conflict (${table.key}) do update set ${overwrite.join(', ')}`,
    [JSON.stringify(rows)],
  );
}

/** Rows that change the same columns go in one statement. */
async function patch(transaction: Tables, table: Table, patched: ReadonlyMap<string, Row>): Promise<void> {
  const alike = new Map<string, Row[]>();
  for (const [key, change] of patched) {
    const columns = Object.keys(change).sort().join(',');
    alike.set(columns, [...(alike.get(columns) ?? []), { [table.key]: key, ...change }]);
  }
  for (const [columns, rows] of alike) {
    const names = columns.split(',');
    const shape = [table.key, ...names].map((name) => `${name} ${table.columns[name]}`).join(', ');
    await transaction.query(
      `update ${table.name} as old set ${names.map((name) => `${name} = new.${name}`).join(', ')}
       from jsonb_to_recordset($1::jsonb) as new (${shape}) where old.${table.key} = new.${table.key}`,
      [JSON.stringify(rows)],
    );
  }
}

/** Behind all other writes: nothing but the end of its key follows a conversation's end. */
async function remove(transaction: Tables, deleted: ReadonlySet<string>): Promise<void> {
  if (!deleted.size) return;
  const ids = [...deleted];
  await transaction.query(
    `delete from ${calls.name} c using ${nodes.name} n where n.node_id = c.node_id and n.conversation_id = any($1::uuid[])`,
    [ids],
  );
  for (const { name } of [nodes, usage, failedAttempts, turns, clears, folds, segments, tags, conversations])
    await transaction.query(`delete from ${name} where conversation_id = any($1::uuid[])`, [ids]);
}

async function write(transaction: Tables, table: Table, rows: Rows): Promise<void> {
  await insert(transaction, table, [...rows.inserted.values()]);
  await patch(transaction, table, rows.patched);
}

export const conversationTree: Projection = {
  name: 'conversation-tree',
  version: 1,
  filter: { streamPrefixes: ['conversation-'] },
  endings: ['ConversationDeleted'],
  tables: conversationTreeSchema + transcriptSchema + foldsSchema + segmentsSchema + tagsSchema + usageSchema,
  async apply(events: readonly StoredEvent[], transaction: Tables): Promise<void> {
    const changes = new TreeChanges();
    for (const event of events) changes.put(newestShape(event));
    await write(transaction, conversations, changes.conversations);
    await write(transaction, turns, changes.turns);
    await write(transaction, nodes, changes.nodes);
    await write(transaction, calls, changes.calls);
    await write(transaction, clears, changes.clears);
    await write(transaction, folds, changes.folds);
    await write(transaction, segments, changes.segments);
    await write(transaction, tags, changes.tags);
    await write(transaction, usage, changes.usage);
    await write(transaction, failedAttempts, changes.failedAttempts);
    await remove(transaction, changes.deleted);
  },
};
