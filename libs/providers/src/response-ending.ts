import { messageOf } from './openai-chat/items';
import { isRecord, recordsOf, stringOf } from './json';

/**
 * Why an answer ended, whatever its provider's own word: `cut` for its length, `refused` by the model or a filter, `paused` where it is to
 * be sent back for the rest of it, `compacted` where the provider stopped once it had summarised what was before.
 */
export type Ending = 'complete' | 'tool_calls' | 'cut' | 'refused' | 'paused' | 'compacted';

const words: Readonly<Record<string, Ending>> = {
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  tool_use: 'tool_calls',
  length: 'cut',
  max_tokens: 'cut',
  model_context_window_exceeded: 'cut',
  content_filter: 'refused',
  refusal: 'refused',
  pause_turn: 'paused',
  compaction: 'compacted',
};

/** Of a stored response. A word that is not known ends an answer. */
export function endingOfResponse(response: unknown): Ending {
  if (!isRecord(response)) return 'complete';
  if (response['format'] === 'anthropic.messages') return words[stringOf(response['stop_reason'])] ?? 'complete';
  if (stringOf(messageOf(response)['refusal']) !== '') return 'refused';
  return words[stringOf(recordsOf(response['choices'])[0]?.['finish_reason'])] ?? 'complete';
}
