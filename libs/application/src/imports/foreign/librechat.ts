import { type AnswerPart, ForeignFault, type ForeignMessage, type ForeignTree, type NoteCounts } from './tree';
import { idOf, instantOf, isRecord, jsonOf, type JsonRecord, listOf, recordOf, shapeFault, textOf } from './values';

/** What LibreChat calls the parent of a first message. */
const NO_PARENT = '00000000-0000-0000-0000-000000000000';

/**
 * A conversation that LibreChat exported as JSON: `messages` with `parentMessageId`, or `messagesTree` (once `messages` too) in which each has its
 * `children`. Its window shows the newest branch; the file does not tell which one was read.
 */
export function readLibreChat(entry: JsonRecord, notes: NoteCounts): ForeignTree {
  const given = entry['messagesTree'] ?? entry['messages'];
  if (!Array.isArray(given)) throw shapeFault('It has no list of messages.');
  const options = recordOf(entry['options']);
  const found = flat(given);
  const messages = found.map(({ message, under }) => messageOf(message, under, notes));
  return {
    ...{ format: 'librechat', id: idOf(entry['conversationId']), current: null, messages },
    startedAt: messages.find(({ at }) => at !== null)?.at ?? null,
    provider: textOf(entry['endpoint']) || textOf(options['endpoint']) || 'librechat',
    model: textOf(options['model']),
  };
}

/** Undefined: the message itself tells its parent. */
interface Placed {
  readonly message: JsonRecord;
  readonly under: string | null | undefined;
}

/** Each message before those beneath it. Without recursion: each is two levels deeper in the file than the one that it answers. */
function flat(given: readonly unknown[]): readonly Placed[] {
  const found: Placed[] = [];
  const open: { readonly value: unknown; readonly under: string | null | undefined }[] = [];
  const put = (values: readonly unknown[], under: string | null | undefined): void => {
    for (const value of values.toReversed()) open.push({ value, under });
  };
  put(given, given.some((value) => Array.isArray(recordOf(value)['children'])) ? null : undefined);
  for (let next = open.pop(); next; next = open.pop()) {
    const { value: message, under } = next;
    if (!isRecord(message)) throw shapeFault(`The ${found.length + 1}. message is no object.`);
    found.push({ message, under });
    const { children } = message;
    if (Array.isArray(children)) put(children, idOf(message['messageId']));
  }
  return found;
}

function messageOf(message: JsonRecord, under: string | null | undefined, notes: NoteCounts): ForeignMessage {
  const id = idOf(message['messageId']);
  if (id === null) throw shapeFault('A message has no messageId.');
  const named = idOf(message['parentMessageId']);
  const parent = under === undefined ? (named === NO_PARENT ? null : named) : under;
  return { id, parent, at: instantOf(message['createdAt'], notes), says: saidBy(message, id, notes) };
}

function saidBy(message: JsonRecord, id: string, notes: NoteCounts): ForeignMessage['says'] {
  const { isCreatedByUser: byUser, error, unfinished } = message;
  if (typeof byUser !== 'boolean')
    throw new ForeignFault('unknown_role', `Message ${id} does not say whether the user wrote it.`);
  for (const _ of [...listOf(message['files']), ...listOf(message['attachments'])]) notes.add('attachment');
  const content = listOf(message['content']).flatMap((part) => partsOf(part, notes));
  const text = textOf(message['text']);
  const words = content.flatMap((part) => (part.type === 'assistant' ? part.text : []));
  if (byUser) return { question: text || words.join('\n') };
  const parts: readonly AnswerPart[] = content.length > 0 ? content : text === '' ? [] : [{ type: 'assistant', text }];
  const model = textOf(message['model']);
  const stopReason = unfinished === true ? 'unfinished' : textOf(message['finish_reason']);
  const about = { ...(model !== '' && { model }), ...(stopReason !== '' && { stopReason }) };
  if (error === true) return { answer: { ...about, parts: content, failure: text || words.join('\n') } };
  return { answer: { ...about, parts } };
}

function partsOf(part: unknown, notes: NoteCounts): readonly AnswerPart[] {
  if (!isRecord(part)) return [];
  const { type } = part;
  switch (type) {
    case 'text':
      return [{ type: 'assistant', text: valueOf(part['text']) }];
    case 'think':
      return [{ type: 'reasoning', text: valueOf(part['think']) }];
    case 'error':
      return [{ type: 'assistant', text: valueOf(part['error']) || valueOf(part['text']) }];
    case 'tool_call':
      return callOf(recordOf(part['tool_call']));
    case 'agent_update':
      return [];
    case 'image_file':
    case 'image_url':
    case 'input_audio':
    case 'video_url':
      notes.add('attachment');
      return [];
    default:
      notes.add('unknown_content');
      return [{ type: 'assistant', text: jsonOf(part) }];
  }
}

const valueOf = (text: unknown): string => textOf(isRecord(text) ? text['value'] : text);

/** A call of an agent's tool, of a function or of an assistant's own code interpreter, with its result in it. */
function callOf(call: JsonRecord): readonly AnswerPart[] {
  const form = recordOf(call['function'] ?? call['code_interpreter'] ?? call);
  const name = textOf(form['name']) || textOf(call['name']) || textOf(call['type']) || 'unknown';
  const given = form['args'] ?? form['arguments'] ?? form['input'];
  const raw = typeof given === 'string' ? given : given === undefined ? '' : jsonOf(given);
  const output = form['output'] ?? form['outputs'];
  const made: AnswerPart = { type: 'tool_call', name, arguments: raw };
  if (output === undefined || output === null) return [made];
  const text = typeof output === 'string' ? output : jsonOf(output);
  return [made, { type: 'tool_result', name, text, isError: false }];
}
