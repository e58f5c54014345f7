import type { CommandKey, DraftEvent } from '@palimpsest/conversation';

/** The few words in which the judge reads a log, translated from the events as they are stored. */
export type Said = { key?: CommandKey | undefined } & (
  | { type: 'TurnQueued' | 'TurnEnded'; turn: string; status: string; reason?: string }
  | { type: 'TurnStarted'; turn: string; carrier: string; parent: string | null; kind: string; of?: string | undefined }
  | { type: 'TurnTakenOver'; turn: string; carrier: string }
  | { type: 'CallRequested'; node: string; parent: string | null; turn: string }
  | { type: 'WorkRequested'; node: string; parent: string | null; origin: string | null; kind: string }
  | { type: 'Compacted'; node: string; origin: string }
  | { type: 'CallAttemptFailed' | 'CallFailed'; node: string; reason: string }
  | { type: 'CallSucceeded'; node: string; calls: SaidCall[] }
  | { type: 'ToolApprovalRequested'; call: string; args: string }
  | { type: 'ToolApprovalDecided'; call: string; decision: string; args: string | undefined }
  | { type: 'ToolExecutionStarted'; call: string; run: string; args: string }
  | { type: 'ToolExecuted'; call: string; run?: string | undefined; synthetic?: string | undefined }
  | { type: 'HeadMoved'; to: string; from: string | null; reason: string }
  | { type: 'Cleared'; from: string | null; epoch: number }
  | { type: 'Attached'; conversation: string }
  | { type: 'Stated'; node: string | null }
  | { type: 'Deleted' | 'KeyDestroyed' }
  | { type: 'Noise' }
);

export interface SaidCall {
  id: string;
  write: boolean;
  approval: boolean;
  invalid: boolean;
  args: string;
}

export function translate(event: DraftEvent): Said {
  return { ...words(event), key: event.key };
}

function words(e: DraftEvent): Said {
  switch (e.type) {
    case 'ConversationImported':
      return { type: 'Noise' };
    case 'TurnQueued':
      return { type: 'TurnQueued', turn: e.data.turnId, status: 'queued' };
    case 'TurnStarted': {
      const { turnId: turn, carrier, parent, kind, of } = e.data;
      return { type: 'TurnStarted', turn, carrier, parent, kind, of };
    }
    case 'TurnTakenOver':
      return { type: 'TurnTakenOver', turn: e.data.turnId, carrier: e.data.carrier };
    case 'CallRequested': {
      const { nodeId: node, parent, kind } = e.data;
      if (kind === 'turn') return { type: 'CallRequested', node, parent, turn: e.data.turnId };
      return { type: 'WorkRequested', node, parent, origin: kind === 'compaction' ? e.data.origin : null, kind };
    }
    case 'CallAttemptFailed':
    case 'CallFailed':
      return { type: e.type, node: e.data.nodeId, reason: e.data.reason };
    case 'CallSucceeded': {
      const calls = e.data.toolCalls.map(({ toolCallId: id, effect, approval, invalid, argumentsDigest: args }) => ({
        id,
        write: effect === 'write',
        approval,
        invalid: invalid !== undefined,
        args,
      }));
      return { type: 'CallSucceeded', node: e.data.nodeId, calls };
    }
    case 'ToolApprovalRequested':
      return { type: e.type, call: e.data.toolCallId, args: e.data.argumentsDigest };
    case 'ToolApprovalDecided':
      return { type: e.type, call: e.data.toolCallId, decision: e.data.decision, args: e.data.argumentsDigest };
    case 'ToolExecutionStarted':
      return { type: e.type, call: e.data.toolCallId, run: e.data.runId, args: e.data.argumentsDigest };
    case 'ToolExecuted':
      return { type: e.type, call: e.data.toolCallId, run: e.data.runId, synthetic: e.data.synthetic };
    case 'TurnCompleted':
      return { type: 'TurnEnded', turn: e.data.turnId, status: 'completed' };
    case 'TurnFailed':
      return { type: 'TurnEnded', turn: e.data.turnId, status: 'failed', reason: e.data.reason };
    case 'TurnCancelled':
      return { type: 'TurnEnded', turn: e.data.turnId, status: 'cancelled' };
    case 'HeadMoved':
      return { type: e.type, to: e.data.to, from: e.data.from, reason: e.data.reason };
    case 'ConversationCleared':
      return { type: 'Cleared', from: e.data.from, epoch: e.data.epoch };
    case 'StateAsserted':
    case 'StateRetracted':
    case 'ItemTagged':
      return { type: 'Stated', node: e.data.nodeId };
    case 'DependentAttached':
      return { type: 'Attached', conversation: e.data.conversationId };
    case 'ConversationDeleted':
      return { type: 'Deleted' };
    case 'KeyDestroyed':
      return { type: 'KeyDestroyed' };
    case 'ContextCompacted':
      return { type: 'Compacted', node: e.data.nodeId, origin: e.data.origin };
    case 'ConversationStarted':
    case 'ToolResultFolded': // what a request shows of a result is nothing to who does what
    case 'SummaryFolded':
    case 'ContextExpanded':
    case 'TransformJudged':
      return { type: 'Noise' };
  }
}
