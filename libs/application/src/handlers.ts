import { ListApprovalsHandler } from './approvals/approval-queries.handlers';
import { RunBacktestHandler } from './backtests/backtest.handler';
import { CompactConversationHandler } from './compactions/compact-conversation.handler';
import { CreateAssistantVersionHandler } from './assistants/create-assistant-version.handler';
import {
  GetConversationHandler,
  GetTranscriptHandler,
  GetTreeHandler,
  GetUsageHandler,
  ListConversationsHandler,
} from './conversations/conversation-queries.handlers';
import { GetContextHandler } from './conversations/context.handler';
import { ClearConversationHandler } from './conversations/clear-conversation.handler';
import { DeleteConversationHandler } from './conversations/delete-conversation.handler';
import { StartConversationHandler } from './conversations/start-conversation.handler';
import { SwitchBranchHandler } from './conversations/switch-branch.handler';
import { ListEventsHandler } from './events/list-events.handler';
import { ExportConversationHandler } from './exports/export-conversation.handler';
import { ImportConversationHandler } from './imports/import-conversation.handler';
import { GetLineageHandler } from './lineage/lineage.handler';
import { DiffNodesHandler } from './nodes/diff-nodes.handler';
import { GetCoverageHandler } from './nodes/coverage.handler';
import { DiagnoseNodeHandler } from './nodes/diagnosis.handler';
import { GetNodeHandler, ReplayNodeHandler } from './nodes/node.handlers';
import { ReissueNodeHandler } from './nodes/reissue-call.handler';
import { TagItemHandler } from './nodes/tag-item.handler';
import {
  DropGenerationHandler,
  ListProjectionsHandler,
  RebuildProjectionHandler,
  RetryParkedHandler,
} from './projections/projection.handlers';
import { QueryProjectionHandler } from './projections/query-projection';
import { StateFieldHandler } from './state/state-field.handler';
import { GetStateHandler, GetStateHistoryHandler } from './state/state-queries.handlers';
import { FollowRunningTextHandler } from './turns/follow-running-text.handler';
import { AwaitTurnHandler, FollowTurnHandler, GetTurnHandler } from './turns/turn-queries.handlers';
import {
  AskQuestionHandler,
  CancelTurnHandler,
  DecideApprovalHandler,
  EditQuestionHandler,
  RegenerateAnswerHandler,
} from './turns/turn.handlers';

import { AddPlaybookVersionHandler } from './playbooks/add-playbook-version.handler';
import { MakePlaybookHandler } from './playbooks/make-playbook.handler';
import { OpenEditConversationHandler } from './playbooks/open-edit-conversation.handler';
import {
  DiffPlaybookVersionsHandler,
  GetPlaybookHandler,
  ListPlaybookVersionsHandler,
} from './playbooks/playbook-queries.handlers';

/** Each takes the `System` that its module provides. */
export const handlers = [
  CreateAssistantVersionHandler,
  StartConversationHandler,
  SwitchBranchHandler,
  ClearConversationHandler,
  CompactConversationHandler,
  DeleteConversationHandler,
  StateFieldHandler,
  TagItemHandler,
  ReissueNodeHandler,
  GetStateHandler,
  GetStateHistoryHandler,
  AskQuestionHandler,
  EditQuestionHandler,
  RegenerateAnswerHandler,
  CancelTurnHandler,
  DecideApprovalHandler,
  GetTurnHandler,
  AwaitTurnHandler,
  FollowTurnHandler,
  FollowRunningTextHandler,
  ExportConversationHandler,
  ImportConversationHandler,
  GetConversationHandler,
  ListConversationsHandler,
  ListApprovalsHandler,
  ListEventsHandler,
  GetTreeHandler,
  GetTranscriptHandler,
  GetUsageHandler,
  GetContextHandler,
  GetNodeHandler,
  ReplayNodeHandler,
  DiffNodesHandler,
  GetLineageHandler,
  RunBacktestHandler,
  GetCoverageHandler,
  DiagnoseNodeHandler,
  ListProjectionsHandler,
  RebuildProjectionHandler,
  DropGenerationHandler,
  RetryParkedHandler,
  QueryProjectionHandler,
  MakePlaybookHandler,
  AddPlaybookVersionHandler,
  OpenEditConversationHandler,
  GetPlaybookHandler,
  ListPlaybookVersionsHandler,
  DiffPlaybookVersionsHandler,
];
