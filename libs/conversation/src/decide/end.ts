import type { CancelTurn } from '../commands';
import type { CommandKey, EventOf, FailureReason, HeadReason, NodeId, TurnId, TurnKind } from '../events';
import { nodeOf, type RunningTurn, toolCallOf, turnOf } from '../state';
import type { Draft } from './draft';
import { close } from './synthetic';

export type Ending =
  | { readonly status: 'completed' }
  | { readonly status: 'failed'; readonly reason: FailureReason; readonly detail: string }
  | {
      readonly status: 'cancelled';
      readonly arrived?: CancelTurn['arrived'];
      readonly key?: CommandKey | undefined;
    };

/** Ends the running turn; one append, never cut. A call that was started and has no result stays open for it. */
export function end(draft: Draft, turn: RunningTurn, ending: Ending): void {
  if (turn.node !== null) settleNode(draft, turn.node, ending);
  putEnding(draft, turn.turnId, ending);
  const to = headAfter(draft, turn, ending);
  if (to === null) return;
  const data = { from: draft.state.head, to, reason: headReason(turn.kind, ending), turnId: turn.turnId };
  draft.put({ type: 'HeadMoved', data, content: null });
}

function settleNode(draft: Draft, nodeId: NodeId, ending: Ending): void {
  const node = nodeOf(draft.state, nodeId);
  if (node.status === 'pending') {
    const reason = ending.status === 'failed' ? ending.reason : 'cancelled';
    draft.put({ type: 'CallFailed', data: { nodeId, reason }, content: whyCut(nodeId, ending) });
  }
  for (const toolCallId of node.toolCallIds) {
    const { status } = toolCallOf(draft.state, toolCallId);
    if (status === 'awaiting')
      draft.put({ type: 'ToolApprovalDecided', data: { toolCallId, decision: 'cancelled' }, content: null });
    if (status !== 'executed' && status !== 'started') close(draft, toolCallId, 'not_started');
  }
}

function whyCut(nodeId: NodeId, ending: Ending): EventOf<'CallFailed'>['content'] {
  if (ending.status === 'failed') return { detail: ending.detail };
  const { arrived } = ending.status === 'cancelled' ? ending : {};
  if (arrived?.nodeId !== nodeId || arrived.text === '') return null;
  return { detail: 'The turn was cancelled while the answer arrived.', partial: arrived.text };
}

function putEnding(draft: Draft, turnId: TurnId, ending: Ending): void {
  switch (ending.status) {
    case 'completed':
      return draft.put({ type: 'TurnCompleted', data: { turnId }, content: null });
    case 'failed': {
      const { reason, detail } = ending;
      return draft.put({ type: 'TurnFailed', data: { turnId, reason }, content: { detail } });
    }
    case 'cancelled':
      return draft.put({
        type: 'TurnCancelled',
        data: { turnId },
        content: null,
        ...(ending.key && { key: ending.key }),
      });
  }
}

/**
 * The last node holds tool results already paid for. But one whose request was too large must not be grown from; nor one that answered, where
 * the request after it could not even be made: then the head goes to the node before it in the turn, whose next request did fit.
 */
function headAfter({ state }: Draft, { node, lastSucceeded, turnId }: RunningTurn, ending: Ending): NodeId | null {
  if (node === null) return null;
  const { reason, status, parent } = nodeOf(state, node);
  if (reason === 'context_overflow') return lastSucceeded;
  if (status !== 'succeeded' || ending.status !== 'failed' || !TOO_LARGE.has(ending.reason)) return node;
  return node === turnOf(state, turnId).firstNode ? null : parent;
}

/** The next request cannot be made. */
const TOO_LARGE: ReadonlySet<FailureReason> = new Set(['context_overflow', 'request_too_large']);

function headReason(kind: TurnKind, ending: Ending): HeadReason {
  if (ending.status !== 'completed') return 'failure';
  return kind === 'ask' ? 'turn' : kind;
}
