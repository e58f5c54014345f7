import type { RecordToolResult } from '../commands';
import { type Decision, refuse } from '../refusal';
import type { ActiveConversation } from '../state';
import { advance } from './advance';
import { Draft } from './draft';

/**
 * Whoever ran it, carrier or not, turn ended or not: a result that was obtained is recorded, unless one stands. The turn goes on in both
 * cases, since the result that stands may be one that its own carrier has not seen.
 */
export function recordToolResult(state: ActiveConversation, command: RecordToolResult): Decision {
  const { toolCallId, runId, carrier, isError, content, bounds } = command;
  const call = state.toolCalls.get(toolCallId);
  if (!call?.runs.includes(runId)) return refuse({ code: 'not_found', what: 'tool_call' });
  const draft = new Draft(state);
  const data = { toolCallId, isError, runId, ...(content.display !== undefined && { display: true as const }) };
  if (call.result === null) draft.put({ type: 'ToolExecuted', data, content });
  draft.factsEnd();
  advance(draft, carrier, bounds);
  return draft.done();
}
