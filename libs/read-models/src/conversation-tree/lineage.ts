import type { Tables } from '../projection';
import type { NodeStatus } from './node-events';

/** A node as it is followed forwards. */
export interface NodeBelow {
  readonly node_id: string;
  readonly conversation_id: string;
  /** Its parent, or its `origin`; null for a root. */
  readonly before: string | null;
  readonly kind: string;
  readonly status: NodeStatus;
  readonly turn_id: string | null;
  readonly requested_revision: bigint;
}

/** A conversation that grows from a node of another one, or that one itself. */
export interface GrownRow {
  readonly conversation_id: string;
  readonly source_node_id: string | null;
  readonly head: string | null;
  /** Of its stream: up to there it is known. */
  readonly revision: bigint;
  readonly started_position: bigint;
}

export interface ToolCallRow {
  readonly tool_call_id: string;
  readonly node_id: string;
  readonly conversation_id: string;
  readonly tool: string | null;
  /** Null: it has no result yet. */
  readonly executed_revision: bigint | null;
}

/** What grows from what, for whoever follows it forwards. Tenants are the caller's concern. */
export class TreeBelow {
  constructor(private readonly tables: Tables) {}

  /** The nodes of a conversation that were requested at a revision or later, in order: each behind the one before it. */
  async nodesFrom(conversationId: string, revision: bigint): Promise<readonly NodeBelow[]> {
    const { rows } = await this.tables.query<NodeBelow>(
      `select node_id, conversation_id, coalesce(parent, origin) as before, kind, status, turn_id, requested_revision
       from read.nodes_v1 where conversation_id = $1::uuid and requested_revision >= $2::bigint order by requested_revision`,
      [conversationId, revision],
    );
    return rows;
  }

  /** These conversations and all that grow from them, in the order in which they began. */
  async grownFrom(conversationId: string): Promise<readonly GrownRow[]> {
    const { rows } = await this.tables.query<GrownRow>(
      `with recursive grown as (
         select conversation_id, source_node_id, head, revision, started_position from read.conversations_v1 where conversation_id = $1::uuid
         union
         select c.conversation_id, c.source_node_id, c.head, c.revision, c.started_position
         from grown g join read.conversations_v1 c on c.source_conversation_id = g.conversation_id
       )
       select * from grown order by started_position`,
      [conversationId],
    );
    return rows;
  }

  /** Where the events stand that fold results, with the calls whose results they are. */
  async folds(
    conversationIds: readonly string[],
  ): Promise<
    readonly { readonly conversation_id: string; readonly tool_call_id: string; readonly revision: bigint }[]
  > {
    const { rows } = await this.tables.query<{ conversation_id: string; tool_call_id: string; revision: bigint }>(
      `select conversation_id, tool_call_id, revision from read.folds_v1
       where conversation_id = any($1::uuid[])`,
      [conversationIds],
    );
    return rows;
  }

  async toolCalls(toolCallIds: readonly string[]): Promise<readonly ToolCallRow[]> {
    const { rows } = await this.tables.query<ToolCallRow>(
      `select c.tool_call_id, c.node_id, n.conversation_id, c.tool, c.executed_revision
       from read.tool_calls_v1 c join read.nodes_v1 n on n.node_id = c.node_id where c.tool_call_id = any($1::text[])`,
      [toolCallIds],
    );
    return rows;
  }

  /** Of these nodes those that called no tool and did not pause: of a turn, what a person was answered. */
  async final(nodeIds: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.tables.query<{ node_id: string }>(
      `select n.node_id from read.nodes_v1 n where n.node_id = any($1::text[]) and n.status = 'succeeded' and n.paused is not true
         and not exists (select 1 from read.tool_calls_v1 c where c.node_id = n.node_id)`,
      [nodeIds],
    );
    return new Set(rows.map(({ node_id }) => node_id));
  }
}
