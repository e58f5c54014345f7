import type {
  ApprovalDecision,
  Carrier,
  ConversationSource,
  FailureReason,
  NodeId,
  RunId,
  SegmentReason,
  SyntheticReason,
  ToolCallId,
  ToolCallListing,
  TurnId,
  TurnKind,
  WorkKind,
} from './events';
import type { Table } from './table';

/**
 * What the rules know of a conversation: only what one of them reads, never content. Everything in it is JSON but the tables, so revisions
 * are numbers here (exact up to 2^53).
 */
export type ConversationState = AbsentConversation | ActiveConversation | DeletedConversation;

export interface AbsentConversation {
  readonly status: 'absent';
}

/** Nothing is left to decide about it. */
export interface DeletedConversation {
  readonly status: 'deleted';
  readonly revision: number;
}

export interface ActiveConversation {
  readonly status: 'active';
  /** Of the last event that was folded. */
  readonly revision: number;
  readonly whenBusy: 'refuse' | 'queue';
  /** Its import has begun and not ended. */
  readonly importing: boolean;
  /** Null: it grows from no other conversation. `headAt`: the revision at which that node was most recently the head. */
  readonly source: (Pick<ConversationSource, 'conversationId' | 'nodeId'> & { readonly headAt: number }) | null;
  readonly head: NodeId | null;
  readonly nodes: Table<NodeRecord>;
  readonly turns: Table<TurnRecord>;
  readonly running: RunningTurn | null;
  readonly queue: readonly QueuedTurn[];
  readonly toolCalls: Table<ToolCallRecord>;
  /** The calls without a result, wherever they are in the tree: a short list, so that a start need not walk its path to find none. */
  readonly openCalls: readonly ToolCallId[];
  readonly keys: Table<KeyRecord>;
  /** How many clears there were, and the revision of the last one, -1 before any: what stands before it is of an earlier epoch. */
  readonly epoch: number;
  readonly clearedAt: number;
  /** Conversations that grow from nodes of this one, deleted or not. */
  readonly dependents: readonly string[];
}

export type NodeRecord = NodeProgress &
  (
    | { readonly kind: 'turn'; readonly parent: NodeId | null; readonly turnId: TurnId }
    | { readonly kind: 'compaction'; readonly parent: null; readonly origin: NodeId; readonly carrier: Carrier }
    | {
        readonly kind: 'summary';
        readonly parent: NodeId;
        readonly carrier: Carrier;
        readonly segment?: SegmentReason;
        readonly continues?: NodeId;
      }
    | {
        readonly kind: Exclude<WorkKind, 'compaction' | 'summary'>;
        readonly parent: NodeId;
        readonly carrier: Carrier;
      }
  );

export interface NodeProgress {
  readonly status: 'pending' | 'succeeded' | 'failed';
  /** Of a failed node. */
  readonly reason?: FailureReason;
  /** Of a transform whose draft was judged. */
  readonly judged?: true;
  /** Its answer is not finished: the next round brings more of it. */
  readonly paused?: true;
  readonly toolCallIds: readonly ToolCallId[];
  readonly requestedAt: number;
  /** The revision at which it was most recently made the head; null: it never was. */
  readonly headAt: number | null;
}

export type TurnEnding = 'completed' | 'failed' | 'cancelled';

export interface TurnRecord {
  readonly status: 'queued' | 'running' | TurnEnding;
  /** Where it was queued, or started if it never was: its story in the stream begins here. */
  readonly addedAt: number;
  /** Null while it is queued, and for ever if it is cancelled then. */
  readonly start: TurnStart | null;
  readonly firstNode: NodeId | null;
  readonly lastNode: NodeId | null;
  /** The first revision at which it had ended or waited for a person: what an equal key is answered from. */
  readonly settledAt: number | null;
  /** Calls that were to find out what it says of the state, in order. */
  readonly extractions: readonly NodeId[];
}

export interface TurnStart {
  readonly kind: TurnKind;
  /** Where it began, and where an edit of it goes back to. */
  readonly parent: NodeId | null;
  readonly assistantVersion: number;
  readonly revision: number;
}

interface TurnInProgress extends TurnStart {
  readonly turnId: TurnId;
  /** Its last node; null before its first request. */
  readonly node: NodeId | null;
  readonly lastSucceeded: NodeId | null;
  readonly round: number;
  /** How often it was taken over since its last answer or result. */
  readonly takeovers: number;
}

/**
 * `waiting`: each call of its last node has a result or awaits a person, and one awaits. `uncarried`: a decision has come, and nobody has
 * taken the turn up yet.
 */
export type RunningTurn =
  | (TurnInProgress & { readonly phase: 'carried'; readonly carrier: Carrier })
  | (TurnInProgress & { readonly phase: 'waiting' | 'uncarried' });

export interface QueuedTurn {
  readonly turnId: TurnId;
  readonly assistantVersion: number;
  readonly zone: string;
}

export interface ToolCallRecord {
  readonly turnId: TurnId;
  readonly nodeId: NodeId;
  readonly effect: ToolCallListing['effect'];
  readonly approval: boolean;
  readonly argumentsDigest: string;
  readonly invalid?: 'unknown_tool' | 'invalid_arguments';
  /** `refused` stands between a decision against it and its synthetic result. */
  readonly status: 'received' | 'awaiting' | 'approved' | 'refused' | 'started' | 'executed';
  readonly decision?: ApprovalDecision;
  /** Of its approval; ISO 8601, UTC. */
  readonly expiresAt?: string;
  readonly runs: readonly RunId[];
  readonly result: 'real' | SyntheticReason | null;
}

export interface KeyRecord {
  readonly digest: string;
  readonly revision: number;
  readonly turnId?: TurnId;
  /** Of a call outside a turn. */
  readonly nodeId?: NodeId;
}

export const absent: AbsentConversation = { status: 'absent' };

/** For ids that come from the log itself. A missing one means that the log or its fold is broken, which no refusal can mend. */
export function must<V>(table: Table<V>, id: string, what: string): V {
  const found = table.get(id);
  if (found === undefined) throw new Error(`The log names ${what} ${id}, and no event before made it.`);
  return found;
}

export const nodeOf = (state: ActiveConversation, id: NodeId): NodeRecord => must(state.nodes, id, 'node');
export const toolCallOf = (state: ActiveConversation, id: ToolCallId): ToolCallRecord =>
  must(state.toolCalls, id, 'tool call');
export const turnOf = (state: ActiveConversation, id: TurnId): TurnRecord => must(state.turns, id, 'turn');

/** The node of another conversation from which this one grows. */
export const isSource = ({ source }: ActiveConversation, id: NodeId | null): boolean =>
  source !== null && source.nodeId === id;

/** The turn's carrier; null while it waits or nobody carries it. */
export const carrierOf = (turn: RunningTurn | null): Carrier | null =>
  turn?.phase === 'carried' ? turn.carrier : null;

/** A turn waits when each call of its last node has a result or awaits a decision, and one awaits. */
export function waits(state: ActiveConversation): boolean {
  const last = state.running?.node;
  if (!last) return false;
  const calls = nodeOf(state, last).toolCallIds.map((id) => toolCallOf(state, id));
  return (
    calls.some((call) => call.status === 'awaiting') && calls.every((call) => call.result ?? call.status === 'awaiting')
  );
}
