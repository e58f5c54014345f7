import type { Tables } from '../projection';
import {
  type EventsAsRead,
  nodeEvents,
  type NodeEvents,
  type NodeStatus,
  type PathRow,
  pathRow,
  type PathRowAsRead,
  type RequestPlace,
} from './node-events';

/** `pg` gives bigint columns as bigint here: `platform/pg` sets the parser. */
export interface ConversationRow {
  readonly conversation_id: string;
  readonly tenant_id: string;
  readonly assistant_id: string;
  readonly assistant_version: number;
  readonly zone: string;
  readonly head: string | null;
  /** Where it grows from; null: from no other conversation. */
  readonly source_conversation_id: string | null;
  readonly source_node_id: string | null;
  /** How often it was cleared. */
  readonly epoch: number;
  readonly revision: bigint;
  readonly position: bigint;
  readonly started_position: bigint;
  readonly started_at: Date;
}

export interface NodeRow {
  readonly node_id: string;
  readonly conversation_id: string;
  readonly parent: string | null;
  readonly kind: string;
  readonly status: NodeStatus;
  /** Null outside a turn. */
  readonly turn_id: string | null;
  readonly provider: string;
  readonly model: string;
  readonly length: bigint;
  readonly exact: boolean;
  readonly requested_revision: bigint;
  readonly ended_revision: bigint | null;
  readonly reason: string | null;
  readonly input_tokens: bigint | null;
  readonly cached_input_tokens: bigint | null;
  readonly output_tokens: bigint | null;
  readonly origin: string | null;
  /** Its answer is not finished: the next node's goes on from there. */
  readonly paused: boolean | null;
  /** How often the conversation had been cleared before it. */
  readonly epoch: number;
}

/** What one call took, and what its request has in common with the one before it on its path. */
export interface UsageRow {
  readonly node_id: string;
  readonly turn_id: string | null;
  readonly kind: string;
  readonly status: NodeStatus;
  readonly provider: string;
  readonly model: string;
  readonly length: bigint;
  readonly requested_at: Date;
  readonly estimated_tokens: bigint | null;
  readonly input_tokens: bigint | null;
  readonly cached_input_tokens: bigint | null;
  readonly cache_write_tokens: bigint | null;
  readonly output_tokens: bigint | null;
  readonly prefix_bytes: bigint | null;
  readonly broken_by: string | null;
  readonly broken_in: string | null;
  /** Attempts on the wire that failed and were followed by another. */
  readonly failed_attempts: number;
  /** Of the node before on its path. */
  readonly before_requested_at: Date | null;
}

export interface TurnRow {
  readonly turn_id: string;
  readonly conversation_id: string;
  readonly kind: string;
  readonly status: string;
  readonly parent: string | null;
  readonly question_revision: bigint;
  readonly ended_revision: bigint | null;
}

export interface UnknownOutcomeRow {
  readonly turn_id: string;
  readonly tool_call_id: string;
  /** In the assistant's definition; a call of no known tool is never started. */
  readonly tool: string;
}

const epoch = `(select count(*)::int from read.clears_v1 e where e.conversation_id = c.conversation_id) as epoch`;
const epochOfNode = `(select count(*)::int from read.clears_v1 e
  where e.conversation_id = n.conversation_id and e.revision < n.requested_revision) as epoch`;

/** As `EventsAsRead` has it: without folds and tags. */
const eventsOfNode = `array_remove(
    array[n.requested_revision, n.ended_revision, (select t.question_revision from read.turns_v1 t where t.turn_id = n.turn_id)]
    || array(select c.executed_revision from read.tool_calls_v1 c where c.node_id = n.node_id), null)::text[] as revisions`;

/** Queries over the node tree. Each takes the ids it is asked about; tenants are the caller's concern, by `ConversationRow.tenant_id`. */
export class ConversationTree {
  constructor(private readonly tables: Tables) {}

  async conversation(conversationId: string): Promise<ConversationRow | undefined> {
    const { rows } = await this.tables.query<ConversationRow>(
      `select *, ${epoch} from read.conversations_v1 c where conversation_id = $1::uuid`,
      [conversationId],
    );
    return rows[0];
  }

  /** Newest first; `before` is the position at which the last one of the page before was started. */
  async conversations(tenantId: string, limit: number, before?: bigint): Promise<readonly ConversationRow[]> {
    const { rows } = await this.tables.query<ConversationRow>(
      `select *, ${epoch} from read.conversations_v1 c where tenant_id = $1::text and ($2::bigint is null or started_position < $2::bigint)
       order by started_position desc limit $3::int`,
      [tenantId, before ?? null, limit],
    );
    return rows;
  }

  /**
   * Of an assistant, oldest first: those that went on at or behind position `from` and began behind `after`; and how many there are. Their
   * events before `from` count among what they went on from.
   */
  async conversationsOf(
    { tenantId, assistantId }: { readonly tenantId: string; readonly assistantId: string },
    { from, after, limit }: { readonly from: bigint; readonly after: bigint; readonly limit: number },
  ): Promise<{ readonly conversations: readonly ConversationRow[]; readonly count: number }> {
    const { rows } = await this.tables.query<ConversationRow & { readonly count: number }>(
      `select *, ${epoch}, count(*) over ()::int as count from read.conversations_v1 c
       where tenant_id = $1::text and assistant_id = $2::uuid and position >= $3::bigint and started_position > $4::bigint
       order by started_position limit $5::int`,
      [tenantId, assistantId, from, after, limit],
    );
    return { conversations: rows, count: rows[0]?.count ?? 0 };
  }

  async nodes(conversationId: string): Promise<readonly NodeRow[]> {
    const { rows } = await this.tables.query<NodeRow>(
      `select *, ${epochOfNode} from read.nodes_v1 n where conversation_id = $1::uuid order by requested_revision`,
      [conversationId],
    );
    return rows;
  }

  /** From a node to the true root, root first: `origin` counts as an edge, and so does the way into a conversation from which one grows. */
  async lineage(nodeId: string): Promise<readonly NodeRow[]> {
    const { rows } = await this.tables.query<NodeRow>(
      `with recursive lineage as (
         select node_id, coalesce(parent, origin) as before, 0 as steps from read.nodes_v1 where node_id = $1::text
         union all
         select n.node_id, coalesce(n.parent, n.origin), l.steps + 1
         from lineage l join read.nodes_v1 n on n.node_id = l.before
       )
       select n.*, ${epochOfNode} from lineage l join read.nodes_v1 n on n.node_id = l.node_id order by l.steps desc`,
      [nodeId],
    );
    return rows;
  }

  /** Calls of what these nodes say, in the order in which they were asked for. */
  async callsUnder(kind: 'extraction' | 'summary', nodeIds: readonly string[]): Promise<readonly NodeRow[]> {
    const { rows } = await this.tables.query<NodeRow>(
      `select *, ${epochOfNode} from read.nodes_v1 n where kind = $2::text and parent = any($1::text[])
         and conversation_id in (select conversation_id from read.nodes_v1 where node_id = any($1::text[]))
       order by requested_revision`,
      [nodeIds, kind],
    );
    return rows;
  }

  async node(nodeId: string): Promise<NodeRow | undefined> {
    const { rows } = await this.tables.query<NodeRow>(
      `select *, ${epochOfNode} from read.nodes_v1 n where node_id = $1::text`,
      [nodeId],
    );
    return rows[0];
  }

  /** Every call of a conversation, in the order in which they were made. */
  async usage(conversationId: string): Promise<readonly UsageRow[]> {
    const { rows } = await this.tables.query<UsageRow>(
      `select n.node_id, n.turn_id, n.kind, n.status, n.provider, n.model, n.length, n.input_tokens, n.cached_input_tokens, n.output_tokens,
         n.requested_at, n.estimated_tokens, n.cache_write_tokens, n.prefix_bytes, n.broken_by, n.broken_in,
         coalesce(a.failed, 0)::int as failed_attempts, b.requested_at as before_requested_at
       from read.nodes_v1 n left join read.nodes_v1 b on b.node_id = coalesce(n.parent, n.origin)
       left join (select node_id, count(*) as failed from read.failed_attempts_v1 where conversation_id = $1::uuid group by node_id) a
         on a.node_id = n.node_id
       where n.conversation_id = $1::uuid order by n.requested_revision`,
      [conversationId],
    );
    return rows;
  }

  async turn(turnId: string): Promise<TurnRow | undefined> {
    const { rows } = await this.tables.query<TurnRow>(`select * from read.turns_v1 where turn_id = $1::uuid`, [turnId]);
    return rows[0];
  }

  /** In the order in which they were asked. */
  async unfinishedTurns(conversationId: string): Promise<readonly TurnRow[]> {
    const { rows } = await this.tables.query<TurnRow>(
      `select * from read.turns_v1 where turn_id in (select turn_id from read.unfinished_v1 where conversation_id = $1::uuid)
       order by question_revision`,
      [conversationId],
    );
    return rows;
  }

  async turns(conversationIds: readonly string[]): Promise<readonly TurnRow[]> {
    const { rows } = await this.tables.query<TurnRow>(
      `select * from read.turns_v1 where conversation_id = any($1::uuid[]) order by question_revision`,
      [conversationIds],
    );
    return rows;
  }

  /** Conversations with turns or calls that have not ended, with the conversation and the position up to which this is known. One snapshot. */
  async unfinished(): Promise<{ readonly conversations: readonly string[]; readonly position: bigint }> {
    const { rows } = await this.tables.query<{ conversations: readonly string[]; position: bigint }>(
      `select coalesce((select array_agg(distinct conversation_id::text) from read.unfinished_v1), '{}'::text[]) as conversations,
              (select position from read.checkpoint) as position`,
    );
    const [row] = rows;
    return row ?? { conversations: [], position: -1n };
  }

  /**
   * From a node to the root, by one recursive query, root first, through the conversations from which this one grows; and the revision of its
   * own stream up to which this is known. `lineage`: on through compactions, to the true root.
   */
  async path(
    conversationId: string,
    nodeId: string | null,
    { lineage = false } = {},
  ): Promise<{ readonly path: readonly PathRow[]; readonly revision: bigint }> {
    const { rows } = await this.tables.query<PathRowAsRead & { readonly known: bigint }>(
      `with recursive path as (
         select n.*, 0 as steps from read.nodes_v1 n where n.node_id = $2::text
         union all
         select n.*, p.steps + 1
         from path p join read.nodes_v1 n on n.node_id = coalesce(p.parent, case when $3::boolean then p.origin end)
       )
       select n.node_id, n.conversation_id, n.parent, n.kind, n.status, n.provider, n.model, n.turn_id, n.requested_revision, ${eventsOfNode},
         array(select f.revision::text from read.folds_v1 f
           where f.conversation_id = n.conversation_id and f.node_id = n.node_id order by f.revision) as fold_revisions,
         array(select g.revision::text from read.tags_v1 g
           where g.conversation_id = n.conversation_id and g.node_id = n.node_id) as tag_revisions,
         coalesce((select jsonb_agg(jsonb_build_object('summary', s.summary, 'from', s.first_node, 'to', s.last_node, 'events', m) order by s.revision)
           from read.segments_v1 s join lateral (
             select conversation_id, array_remove(array[requested_revision::text, ended_revision::text], null) as revisions
             from read.nodes_v1 where node_id = s.summary) m on true
           where s.conversation_id = n.conversation_id and s.node_id = n.node_id), '[]'::jsonb) as segments,
         known.revision as known
       from (select (select revision from read.conversations_v1 where conversation_id = $1::uuid) as revision) known
       left join path n on true
       order by n.steps desc`,
      [conversationId, nodeId, lineage],
    );
    const path = rows.filter(({ node_id }) => node_id !== null).map(pathRow);
    return { path, revision: rows[0]?.known ?? -1n };
  }

  /** Where the events of these nodes stand, without folds and tags; in no order. */
  async eventsOf(nodeIds: readonly string[]): Promise<readonly NodeEvents[]> {
    const { rows } = await this.tables.query<EventsAsRead>(
      `select n.conversation_id, ${eventsOfNode} from read.nodes_v1 n where n.node_id = any($1::text[])`,
      [nodeIds],
    );
    return rows.map(nodeEvents);
  }

  /** Where the results stand that hold something for the person alone, in order, by the turn that had them. */
  async displays(conversationIds: readonly string[]): Promise<ReadonlyMap<string, readonly bigint[]>> {
    const { rows } = await this.tables.query<{ turn_id: string; revisions: readonly string[] }>(
      `select n.turn_id::text as turn_id, array_agg(c.executed_revision::text order by c.executed_revision) as revisions
       from read.nodes_v1 n join read.tool_calls_v1 c on c.node_id = n.node_id
       where n.conversation_id = any($1::uuid[]) and c.display group by n.turn_id`,
      [conversationIds],
    );
    return new Map(rows.map(({ turn_id, revisions }) => [turn_id, revisions.map(BigInt)]));
  }

  /** Write calls that were started and whose outcome is not known, in order. */
  async unknownOutcomes(conversationIds: readonly string[]): Promise<readonly UnknownOutcomeRow[]> {
    const { rows } = await this.tables.query<UnknownOutcomeRow>(
      `select n.turn_id::text as turn_id, c.tool_call_id, c.tool
       from read.nodes_v1 n join read.tool_calls_v1 c on c.node_id = n.node_id
       where n.conversation_id = any($1::uuid[]) and n.turn_id is not null and c.effect = 'write'
         and (c.interrupted or (c.started and c.executed_revision is null))
       order by n.requested_revision, length(c.tool_call_id), c.tool_call_id`,
      [conversationIds],
    );
    return rows;
  }

  /** Where the requests of these nodes stand: in whose stream, and where in it. */
  async requests(nodeIds: readonly string[]): Promise<ReadonlyMap<string, RequestPlace>> {
    const { rows } = await this.tables.query<
      Pick<NodeRow, 'node_id' | 'conversation_id' | 'requested_revision' | 'ended_revision'>
    >(
      `select node_id, conversation_id, requested_revision, ended_revision from read.nodes_v1 where node_id = any($1::text[])`,
      [nodeIds],
    );
    return new Map(
      rows.map(({ node_id, conversation_id: conversationId, requested_revision: revision, ended_revision: ended }) => [
        node_id,
        { conversationId, revision, ended },
      ]),
    );
  }
}
