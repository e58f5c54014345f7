import type { SyntheticReason, ToolCallId } from '../events';
import { syntheticText } from '../synthetic-results';
import type { Draft } from './draft';

/** Closes a call with a result that no run gave. */
export function close(draft: Draft, toolCallId: ToolCallId, reason: Exclude<SyntheticReason, 'invalid'>): void {
  const content = { text: syntheticText(reason) };
  draft.put({ type: 'ToolExecuted', data: { toolCallId, isError: true, synthetic: reason }, content });
}
