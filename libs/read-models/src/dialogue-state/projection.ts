import type { StoredEvent } from '@palimpsest/event-store';
import type { Projection, Tables } from '../projection';
import { type KeyedTable, upsert } from '../upsert';
import { StateTables } from './rows';
import { dialogueStateSchema } from './schema';
import { routedEvent, StateFold } from './state-fold';

const conversations: KeyedTable = { name: 'read.state_conversations_v1', key: ['conversation_id'] };
const nodes: KeyedTable = { name: 'read.state_nodes_v1', key: ['conversation_id', 'node_id'] };
const states: KeyedTable = { name: 'read.states_v1', key: ['conversation_id', 'node_id'] };

/** The state of dialogues at every node. It needs no key: see `schema`. */
export const dialogueStates: Projection = {
  name: 'dialogue-state',
  version: 1,
  filter: { streamPrefixes: ['conversation-'] },
  endings: ['ConversationDeleted'],
  tables: dialogueStateSchema,
  async apply(events: readonly StoredEvent[], transaction: Tables): Promise<void> {
    const fold = new StateFold(new StateTables(transaction));
    const routed = events.map(routedEvent);
    await fold.expect(routed);
    for (const event of routed) await fold.put(event);
    const living = <T extends { readonly conversation_id: string }>(rows: ReadonlyMap<string, T>) =>
      [...rows.values()].filter(({ conversation_id }) => !fold.deleted.has(conversation_id));
    await upsert(transaction, conversations, living(fold.conversations));
    await upsert(transaction, nodes, living(fold.nodes));
    await upsert(transaction, states, living(fold.states));
    for (const { name } of fold.deleted.size ? [conversations, nodes, states] : [])
      await transaction.query(`delete from ${name} where conversation_id = any($1::uuid[])`, [[...fold.deleted]]);
  },
};
