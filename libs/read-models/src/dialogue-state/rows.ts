import type { Tables } from '../projection';
import type { Reconciled, SaidStatement } from './reconciled';

export interface StateConversationRow {
  readonly conversation_id: string;
  readonly source_conversation_id: string | null;
  readonly source_node_id: string | null;
  readonly source_revision: bigint | null;
  readonly epoch: number;
  /** Of its stream: all up to there is in. */
  readonly revision: bigint;
}

export interface StateNodeRow {
  readonly conversation_id: string;
  readonly node_id: string;
  /** Its parent, or its `origin`; null for a root, and for where another conversation's lineage begins. */
  readonly before: string | null;
  /** -1 where no call stands behind it. */
  readonly requested_revision: bigint;
  /** The node on its lineage, itself included, at which its state was last changed; null: nothing was said up to here. */
  readonly holder: string | null;
}

export interface StateRow {
  readonly conversation_id: string;
  readonly node_id: string;
  /** The holder of the node before. */
  readonly below: string | null;
  /** What is anchored to this node, in order of revision. */
  readonly statements: readonly SaidStatement[];
  /** What was had from another conversation. */
  readonly base: Reconciled | null;
  readonly state: Reconciled;
}

/** Where rows are looked up. */
export class StateTables {
  constructor(private readonly tables: Tables) {}

  async conversations(ids: readonly string[]): Promise<readonly StateConversationRow[]> {
    const { rows } = await this.tables.query<StateConversationRow>(
      `select * from read.state_conversations_v1 where conversation_id = any($1::uuid[])`,
      [ids],
    );
    return rows;
  }

  /** A node with the state that it has, and all that is known of its conversation: one query, however long the lineage is. */
  async at(conversationId: string, nodeId: string | null) {
    const { rows } = await this.tables.query<{
      conversation: StateConversationRow;
      node: StateNodeRow | null;
      state: StateRow | null;
    }>(
      `select to_jsonb(c) as conversation, to_jsonb(n) as node, to_jsonb(s) as state
       from read.state_conversations_v1 c
       left join read.state_nodes_v1 n on n.conversation_id = c.conversation_id and n.node_id = coalesce($2::text, '@' || c.epoch)
       left join read.states_v1 s on s.conversation_id = n.conversation_id and s.node_id = n.holder
       where c.conversation_id = $1::uuid`,
      [conversationId, nodeId],
    );
    const [row] = rows;
    return row && { ...row, conversation: conversationOf(row.conversation), node: row.node && nodeOf(row.node) };
  }

  async nodes(places: readonly NodePlace[]): Promise<readonly StateNodeRow[]> {
    const { rows } = await this.tables.query<StateNodeRow>(
      `select n.* from jsonb_to_recordset($1::jsonb) as wanted (conversation_id uuid, node_id text)
       join read.state_nodes_v1 n on n.conversation_id = wanted.conversation_id and n.node_id = wanted.node_id`,
      [JSON.stringify(places)],
    );
    return rows;
  }

  /** Nodes that were requested after a revision, in order. */
  async later(conversationId: string, revision: bigint): Promise<readonly StateNodeRow[]> {
    const { rows } = await this.tables.query<StateNodeRow>(
      `select * from read.state_nodes_v1 where conversation_id = $1::uuid and requested_revision > $2::bigint
       order by requested_revision`,
      [conversationId, revision],
    );
    return rows;
  }

  async states(places: readonly NodePlace[]): Promise<readonly StateRow[]> {
    const { rows } = await this.tables.query<StateRow>(
      `select s.* from jsonb_to_recordset($1::jsonb) as wanted (conversation_id uuid, node_id text)
       join read.states_v1 s on s.conversation_id = wanted.conversation_id and s.node_id = wanted.node_id`,
      [JSON.stringify(places)],
    );
    return rows;
  }

  /** The holders from a node down to the root of its conversation, the nearest first. */
  async chain(conversationId: string, holder: string | null): Promise<readonly StateRow[]> {
    const { rows } = await this.tables.query<StateRow>(
      `with recursive chain as (
         select s.*, 0 as steps from read.states_v1 s where s.conversation_id = $1::uuid and s.node_id = $2::text
         union all
         select s.*, c.steps + 1 from chain c join read.states_v1 s on s.conversation_id = c.conversation_id and s.node_id = c.below
       )
       select conversation_id, node_id, below, statements, base, state from chain order by steps`,
      [conversationId, holder],
    );
    return rows;
  }
}

export interface NodePlace {
  readonly conversation_id: string;
  readonly node_id: string;
}

/** Revisions are JSON numbers in a row that was read as JSON: they are safe integers. */
const conversationOf = (row: StateConversationRow): StateConversationRow => ({
  ...row,
  source_revision: row.source_revision === null ? null : BigInt(row.source_revision),
  revision: BigInt(row.revision),
});

const nodeOf = (row: StateNodeRow): StateNodeRow => ({ ...row, requested_revision: BigInt(row.requested_revision) });
