import type { ConversationCommand } from '../commands';
import { type Decision, refuse } from '../refusal';
import type { ConversationState } from '../state';
import { cancelTurn } from './cancel-turn';
import { clearConversation } from './clear-conversation';
import { attachDependent, deleteConversation } from './delete-conversation';
import { failTurn, goOn, takeOverTurn } from './carry';
import { decideApproval, expireApproval } from './decide-approval';
import { recordAnswer, recordAttemptFailure } from './record-answer';
import { recordToolResult } from './record-tool-result';
import { startConversation } from './start-conversation';
import { reissueCall } from './reissue-call';
import { restartTurn, startQueuedTurn, startTurn } from './start-turn';
import { statement } from './state-statement';
import { switchBranch } from './switch-branch';
import { tagItems } from './tag-items';
import {
  closeWork,
  judgeTransform,
  recordWork,
  requestExtraction,
  requestSummary,
  requestTransform,
  startCompaction,
} from './work';

/**
 * The rules. Never throws for anything that a caller can ask. A refusal, and an answer without events, are only as fresh as `state`: give
 * them to a client after a read of the stream's end.
 */
export function decide(state: ConversationState, command: ConversationCommand): Decision {
  if (command.type === 'StartConversation') return startConversation(state, command);
  if (command.type === 'DeleteConversation') return deleteConversation(state, command);
  if (state.status === 'deleted') return refuse({ code: 'deleted' });
  if (state.status === 'absent') return refuse({ code: 'not_found', what: 'conversation' });
  if (state.importing) return refuse({ code: 'importing' });
  switch (command.type) {
    case 'StartTurn':
      return startTurn(state, command);
    case 'EditTurn':
    case 'RegenerateTurn':
      return restartTurn(state, command);
    case 'StartQueuedTurn':
      return startQueuedTurn(state, command);
    case 'SwitchBranch':
      return switchBranch(state, command);
    case 'ClearConversation':
      return clearConversation(state, command);
    case 'AssertState':
    case 'RetractState':
      return statement(state, command);
    case 'TagItems':
      return tagItems(state, command);
    case 'AttachDependent':
      return attachDependent(state, command);
    case 'CancelTurn':
      return cancelTurn(state, command);
    case 'DecideApproval':
      return decideApproval(state, command);
    case 'ExpireApproval':
      return expireApproval(state, command);
    case 'RecordAnswer':
      return recordAnswer(state, command);
    case 'RecordAttemptFailure':
      return recordAttemptFailure(state, command);
    case 'RecordToolResult':
      return recordToolResult(state, command);
    case 'GoOn':
      return goOn(state, command);
    case 'TakeOverTurn':
      return takeOverTurn(state, command);
    case 'FailTurn':
      return failTurn(state, command);
    case 'StartCompaction':
      return startCompaction(state, command);
    case 'RequestSummary':
      return requestSummary(state, command);
    case 'RequestTransform':
      return requestTransform(state, command);
    case 'RequestExtraction':
      return requestExtraction(state, command);
    case 'ReissueCall':
      return reissueCall(state, command);
    case 'JudgeTransform':
      return judgeTransform(state, command);
    case 'RecordWork':
      return recordWork(state, command);
    case 'CloseWork':
      return closeWork(state, command);
  }
}
