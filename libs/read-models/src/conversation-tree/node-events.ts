/** As far as its call is. */
export type NodeStatus = 'pending' | 'succeeded' | 'failed';

/** Where the events of a node stand in its conversation's stream, in no order: question, request, answer, tool results, and what was said of it. */
export interface NodeEvents {
  readonly conversation_id: string;
  readonly revisions: readonly bigint[];
}

/** What a path is assembled from. */
export interface PathRow extends NodeEvents {
  readonly node_id: string;
  readonly parent: string | null;
  readonly kind: string;
  readonly status: NodeStatus;
  readonly provider: string;
  readonly model: string;
  readonly turn_id: string | null;
  readonly requested_revision: bigint;
  /** Of the results that are folded from this node on. */
  readonly fold_revisions: readonly bigint[];
  /** Summaries that stand for runs of the path from this node on. */
  readonly segments: readonly { readonly summary: string; readonly from: string; readonly to: string }[];
  /** The events of those summaries. */
  readonly summaries: readonly NodeEvents[];
}

/** As a query gives them: `pg` leaves the numbers in arrays and in JSON as text. */
export interface EventsAsRead {
  readonly conversation_id: string;
  readonly revisions: readonly string[];
}

export interface PathRowAsRead extends Omit<PathRow, 'revisions' | 'fold_revisions' | 'segments' | 'summaries'> {
  readonly revisions: readonly string[];
  readonly fold_revisions: readonly string[];
  readonly tag_revisions: readonly string[];
  readonly segments: readonly (PathRow['segments'][number] & { readonly events: EventsAsRead })[];
}

export const nodeEvents = ({ conversation_id, revisions }: EventsAsRead): NodeEvents => ({
  conversation_id,
  revisions: revisions.map(BigInt),
});

export const pathRow = (row: PathRowAsRead): PathRow => ({
  ...row,
  revisions: [...row.revisions, ...row.fold_revisions, ...row.tag_revisions].map(BigInt),
  fold_revisions: row.fold_revisions.map(BigInt),
  segments: row.segments.map(({ summary, from, to }) => ({ summary, from, to })),
  summaries: row.segments.map(({ events }) => nodeEvents(events)),
});

/** Where a node's request stands, and how it ended; null as long as it has not. */
export interface RequestPlace {
  readonly conversationId: string;
  readonly revision: bigint;
  readonly ended: bigint | null;
}

/** Where the events of nodes stand, stream by stream. */
export function eventsOfNodes(
  nodes: readonly NodeEvents[],
): readonly { readonly conversationId: string; readonly revisions: readonly bigint[] }[] {
  const found = new Map<string, bigint[]>();
  for (const { conversation_id, revisions } of nodes) {
    const known = found.get(conversation_id);
    if (known) known.push(...revisions);
    else found.set(conversation_id, [...revisions]);
  }
  return [...found].map(([conversationId, revisions]) => ({ conversationId, revisions }));
}
