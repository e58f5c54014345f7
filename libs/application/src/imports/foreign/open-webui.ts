import {
  type AnswerPart,
  type Answered,
  ForeignFault,
  type ForeignMessage,
  type ForeignTree,
  type NoteCounts,
} from './tree';
import { partsOfMarkup } from './open-webui-markup';
import {
  idOf,
  instantOf,
  isRecord,
  jsonOf,
  type JsonRecord,
  lines,
  listOf,
  recordOf,
  shapeFault,
  textOf,
  tokensOf,
} from './values';

/**
 * A chat of Open WebUI's export (a list of them): `chat.history` holds `messages` by id, each with `parentId` and `childrenIds`, and `currentId`.
 * Its oldest exports have a list of messages, one after the other.
 */
export function readOpenWebUi(entry: JsonRecord, notes: NoteCounts): ForeignTree {
  const chat = isRecord(entry['chat']) ? entry['chat'] : entry;
  const history = recordOf(chat['history']);
  const found = isRecord(history['messages']) ? Object.entries(history['messages']) : inOrder(chat['messages']);
  const messages = found.map(([key, message]) => messageOf(key, message, notes));
  return {
    ...{ format: 'open-webui', provider: 'open-webui', model: textOf(listOf(chat['models'])[0]), messages },
    id: idOf(entry['id']) ?? idOf(chat['id']),
    startedAt: instantOf(entry['created_at'] ?? chat['timestamp'], notes),
    current: idOf(history['currentId']) ?? (isRecord(history['messages']) ? null : (messages.at(-1)?.id ?? null)),
  };
}

function inOrder(messages: unknown): [string, unknown][] {
  if (!Array.isArray(messages)) throw shapeFault('It has no history of messages.');
  const ids = messages.map((message, at) => idOf(recordOf(message)['id']) ?? `${at}`);
  return messages.map((message: unknown, at) => {
    const parentId = ids[at - 1] ?? null;
    return [ids[at] ?? '', isRecord(message) ? { ...message, id: ids[at], parentId, childrenIds: undefined } : message];
  });
}

function messageOf(key: string, message: unknown, notes: NoteCounts): ForeignMessage {
  if (!isRecord(message)) throw shapeFault(`Message ${key} is no object.`);
  const { id, parentId, childrenIds, timestamp } = message;
  const named = listOf(childrenIds).flatMap((child) => idOf(child) ?? []);
  return {
    ...{ id: idOf(id) ?? key, parent: idOf(parentId), at: instantOf(timestamp, notes) },
    ...{ says: saidBy(message, key, notes), ...(Array.isArray(childrenIds) && { children: named }) },
  };
}

function saidBy(message: JsonRecord, key: string, notes: NoteCounts): ForeignMessage['says'] {
  const { role } = message;
  const text = contentOf(message['content'], notes);
  for (const _ of listOf(message['files'])) notes.add('attachment');
  if (role === 'user') return { question: text };
  if (role === 'assistant') return { answer: answerOf(message, text, notes) };
  if (text === '') return null;
  if (role !== 'system')
    throw new ForeignFault('unknown_role', `Message ${key} is by somebody who is neither user nor assistant.`);
  notes.add('system_left_out');
  return null;
}

function contentOf(content: unknown, notes: NoteCounts): string {
  if (typeof content === 'string') return content;
  const texts = listOf(content).map((part) => {
    if (typeof part === 'string') return part;
    const { type, text } = recordOf(part);
    if (typeof text === 'string') return text;
    notes.add(type === 'image_url' ? 'attachment' : 'unknown_content');
    return type === 'image_url' ? '' : jsonOf(part);
  });
  return lines(...texts);
}

function answerOf(message: JsonRecord, text: string, notes: NoteCounts): Answered {
  const { model, error, usage, info, output } = message;
  const parts = listOf(output).length > 0 ? partsOfOutput(listOf(output), notes) : partsOfMarkup(text);
  const tokens = usageOf(recordOf(usage ?? info));
  const failure = error === undefined || error === null || error === false ? undefined : failureOf(error);
  return {
    parts,
    ...(typeof model === 'string' && model !== '' && { model }),
    ...(tokens && { usage: tokens }),
    ...(failure !== undefined && { failure }),
  };
}

function failureOf(error: unknown): string {
  const { content } = recordOf(error);
  if (typeof error === 'string') return error;
  return typeof content === 'string'
    ? content
    : isRecord(error)
      ? jsonOf(error)
      : 'It failed, and the file does not say why.';
}

/** As OpenAI's API and Ollama's count. */
function usageOf(usage: JsonRecord): Answered['usage'] {
  const inputTokens = tokensOf(usage['prompt_tokens'] ?? usage['input_tokens'] ?? usage['prompt_eval_count']);
  const outputTokens = tokensOf(usage['completion_tokens'] ?? usage['output_tokens'] ?? usage['eval_count']);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const details = recordOf(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  return { inputTokens, outputTokens, cachedInputTokens: tokensOf(details['cached_tokens']) ?? 0 };
}

/** Its newer answers: the items of OpenAI's Responses API, and one of its own. */
function partsOfOutput(output: readonly unknown[], notes: NoteCounts): readonly AnswerPart[] {
  return output.flatMap((item): readonly AnswerPart[] => {
    if (!isRecord(item)) return [];
    const { type, status } = item;
    const at = (field: string): string => textOf(item[field]);
    const keyOf = () => ({ key: at('call_id') || at('id') });
    if (type === 'message') return [{ type: 'assistant', text: textsOf(item['content']) }];
    if (type === 'reasoning')
      return [{ type: 'reasoning', text: textsOf(item['summary']) || textsOf(item['content']) }];
    if (type === 'function_call')
      return [{ type: 'tool_call', ...keyOf(), name: at('name') || 'unknown', arguments: at('arguments') }];
    if (type === 'function_call_output') {
      const text = typeof item['output'] === 'string' ? item['output'] : textsOf(item['output']);
      return [{ type: 'tool_result', ...keyOf(), text, isError: status === 'failed' || status === 'incomplete' }];
    }
    if (type === 'open_webui:code_interpreter') return interpreted(at('code'), item['output']);
    notes.add('unknown_content');
    return [{ type: 'assistant', text: jsonOf(item) }];
  });
}

function interpreted(code: string, output: unknown): readonly AnswerPart[] {
  const call: AnswerPart = { type: 'tool_call', name: 'code_interpreter', arguments: code };
  if (output === undefined || output === null) return [call];
  const text = typeof output === 'string' ? output : jsonOf(output);
  return [call, { type: 'tool_result', name: 'code_interpreter', text, isError: false }];
}

const textsOf = (parts: unknown): string =>
  listOf(parts)
    .map((part) => (typeof part === 'string' ? part : textOf(recordOf(part)['text'])))
    .filter((text) => text !== '')
    .join('\n\n');
