import type { StoredEvent } from '@palimpsest/event-store';
import { newestShape } from '../newest-shape';
import type { Projection, Tables } from '../projection';
import { StateTables } from './rows';
import { dialogueStateSchema } from './schema';
import { routedEvent, StateFold } from './state-fold';

interface Table {
  readonly name: string;
  readonly key: readonly string[];
}

const conversations: Table = { name: 'read.state_conversations_v1', key: ['conversation_id'] };
const nodes: Table = { name: 'read.state_nodes_v1', key: ['conversation_id', 'node_id'] };
const states: Table = { name: 'read.states_v1', key: ['conversation_id', 'node_id'] };

async function write(transaction: Tables, { name, key }: Table, rows: readonly object[]): Promise<void> {
  const [first] = rows;
  if (!first) return;
  const changing = Object.keys(first).filter((column) => !key.includes(column));
  await transaction.query(
    `insert into ${name} select * from jsonb_populate_recordset(null::${name}, $1::jsonb)
     on conflict (${key.join(', ')}) do update set ${changing.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    [JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))],
  );
}

/** The state of dialogues at every node. It needs no key: see `schema`. */
export const dialogueStates: Projection = {
  name: 'dialogue-state',
  version: 1,
  filter: { streamPrefixes: ['conversation-'] },
  endings: ['ConversationDeleted'],
  tables: dialogueStateSchema,
  async apply(events: readonly StoredEvent[], transaction: Tables): Promise<void> {
    const fold = new StateFold(new StateTables(transaction));
    const routed = events.map((event) => routedEvent(newestShape(event)));
    await fold.expect(routed);
    for (const event of routed) await fold.put(event);
    const living = <T extends { readonly conversation_id: string }>(rows: ReadonlyMap<string, T>) =>
      [...rows.values()].filter(({ conversation_id }) => !fold.deleted.has(conversation_id));
    await write(transaction, conversations, living(fold.conversations));
    await write(transaction, nodes, living(fold.nodes));
    await write(transaction, states, living(fold.states));
    for (const { name } of fold.deleted.size ? [conversations, nodes, states] : [])
      await transaction.query(`delete from ${name} where conversation_id = any($1::uuid[])`, [[...fold.deleted]]);
  },
};
