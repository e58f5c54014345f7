import type { ApprovalDecision, DraftEvent, NodeId, NodeKind, TurnId } from './events';

/** Every way in which the rules say no. The numbers that a caller needs stand beside the code. */
export type Refusal =
  | { readonly code: 'turn_running'; readonly turnId: TurnId; readonly status: 'running' | 'waiting' | 'queued' }
  | { readonly code: 'not_found'; readonly what: 'conversation' | 'turn' | 'node' | 'tool_call' }
  /** Nothing was said since the last compaction, or at all. */
  | { readonly code: 'nothing_to_compact' }
  /** The path is empty: there is nothing to work on. */
  | { readonly code: 'no_context' }
  /** The client's parent is no node of this conversation. */
  | { readonly code: 'unknown_parent'; readonly parent: NodeId }
  /** The client's parent is not, or no longer, the head. */
  | { readonly code: 'revision_conflict'; readonly parent: NodeId | null; readonly head: NodeId | null }
  /** The key had its effect with another body. */
  | { readonly code: 'idempotency_conflict' }
  /** The question stands before the nearest compaction node. */
  | { readonly code: 'before_compaction'; readonly compaction: NodeId }
  /** The turn or node stands before a clear, of which there were `epoch`. */
  | { readonly code: 'cleared'; readonly epoch: number }
  /** Others grow from this conversation, and are not deleted. */
  | { readonly code: 'has_dependents'; readonly conversationIds: readonly string[] }
  /** Its import has begun and not ended. */
  | { readonly code: 'importing' }
  /** The conversation is deleted: its stream is over. */
  | { readonly code: 'deleted' }
  /** Not a node that the head may stand on, or none of its branch ever was the head. */
  | { readonly code: 'not_switchable'; readonly kind: NodeKind }
  /** Its call has not ended: there is nothing to compare with yet. */
  | { readonly code: 'node_pending'; readonly nodeId: NodeId }
  /** It is sent again itself; or it is to be made for another model, and is not of a turn. */
  | { readonly code: 'not_reissuable'; readonly kind: NodeKind }
  /** The call does not await a decision; `decision` is the one that it got, if it got one. */
  | { readonly code: 'already_decided'; readonly decision?: ApprovalDecision }
  | { readonly code: 'approval_mismatch'; readonly argumentsDigest: string }
  /** Another carrier has the turn, or it has ended or waits. */
  | { readonly code: 'not_carrier' }
  /** The node has its answer already: this one is dropped. */
  | { readonly code: 'node_ended' }
  /** A living process carries the turn. */
  | { readonly code: 'carried' }
  /** No turn runs, or it waits for a person. */
  | { readonly code: 'not_running' }
  /** The turn is not the first in the queue. */
  | { readonly code: 'nothing_queued' };

/** What an equal command did before: its answer is rebuilt from the events. */
export interface Known {
  readonly revision: bigint;
  readonly turnId?: TurnId;
  /** Of a call outside a turn. */
  readonly nodeId?: NodeId;
}

export interface Accepted {
  readonly ok: true;
  /** Empty: it is so already, or `known`. */
  readonly events: readonly DraftEvent[];
  /**
   * The first `facts` events may be appended alone, at once, and the rest left to a later `GoOn` or takeover. Never cut elsewhere. 0 for a
   * tool result that came second: it is dropped, and `events` go on all the same.
   */
  readonly facts: number;
  readonly known?: Known;
}

export interface Refused {
  readonly ok: false;
  readonly refusal: Refusal;
}

export type Decision = Accepted | Refused;

export const refuse = (refusal: Refusal): Refused => ({ ok: false, refusal });
export const alreadySo: Accepted = { ok: true, events: [], facts: 0 };
