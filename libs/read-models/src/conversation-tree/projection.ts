import type { StoredEvent } from '@palimpsest/event-store';
import type { Projection, Tables } from '../projection';
import { upsert } from '../upsert';
import { type Row, type Rows, TreeChanges } from './rows';
import {
  calls,
  clears,
  conversations,
  conversationTreeSchema,
  failedAttempts,
  folds,
  nodes,
  segments,
  type Table,
  tables,
  tags,
  turns,
  unfinished,
} from './schema';

/** Of tables whose key is one column. Rows that change the same columns go in one statement. */
async function patch(transaction: Tables, { name, key }: Table, patched: ReadonlyMap<string, Row>): Promise<void> {
  const alike = new Map<string, Row[]>();
  for (const [id, change] of patched) {
    const columns = Object.keys(change).sort().join(',');
    alike.set(columns, [...(alike.get(columns) ?? []), { [String(key)]: id, ...change }]);
  }
  for (const [columns, rows] of alike) {
    const changing = columns.split(',').map((column) => `${column} = new.${column}`);
    await transaction.query(
      `update ${name} as old set ${changing.join(', ')}
       from jsonb_populate_recordset(null::${name}, $1::jsonb) as new where ${same(key)}`,
      [JSON.stringify(rows)],
    );
  }
}

async function remove(transaction: Tables, { name, key }: Table, rows: readonly Row[]): Promise<void> {
  if (!rows.length) return;
  await transaction.query(
    `delete from ${name} as old using jsonb_populate_recordset(null::${name}, $1::jsonb) as new where ${same(key)}`,
    [JSON.stringify(rows)],
  );
}

const same = (key: readonly string[]): string => key.map((column) => `old.${column} = new.${column}`).join(' and ');

/** Behind all other writes: nothing but the end of its key follows a conversation's end. */
async function removeAll(transaction: Tables, deleted: ReadonlySet<string>): Promise<void> {
  if (!deleted.size) return;
  const ids = [...deleted];
  const ofTheirs = `select node_id from ${nodes.name} where conversation_id = any($1::uuid[])`;
  for (const { name, columns } of tables)
    await transaction.query(
      `delete from ${name} where ${columns['conversation_id'] ? 'conversation_id = any($1::uuid[])' : `node_id in (${ofTheirs})`}`,
      [ids],
    );
}

async function write(transaction: Tables, table: Table, rows: Rows): Promise<void> {
  // A queued turn that starts is written twice.
  await upsert(transaction, table, [...rows.inserted.values()]);
  await patch(transaction, table, rows.patched);
  await remove(transaction, table, [...rows.removed.values()]);
}

export const conversationTree: Projection = {
  name: 'conversation-tree',
  version: 1,
  filter: { streamPrefixes: ['conversation-'] },
  endings: ['ConversationDeleted'],
  tables: conversationTreeSchema,
  async apply(events: readonly StoredEvent[], transaction: Tables): Promise<void> {
    const changes = new TreeChanges();
    for (const event of events) changes.put(event);
    await write(transaction, conversations, changes.conversations);
    await write(transaction, turns, changes.turns);
    await write(transaction, nodes, changes.nodes);
    await write(transaction, calls, changes.calls);
    await write(transaction, clears, changes.clears);
    await write(transaction, folds, changes.folds);
    await write(transaction, segments, changes.segments);
    await write(transaction, tags, changes.tags);
    await write(transaction, failedAttempts, changes.failedAttempts);
    await write(transaction, unfinished, changes.unfinished);
    await removeAll(transaction, changes.deleted);
  },
};
