import {
  type AnswerPart,
  type Answered,
  ForeignFault,
  type ForeignMessage,
  type ForeignTree,
  type NoteCounts,
} from './tree';
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
} from './values';

/**
 * A conversation of ChatGPT's export (`conversations.json` is a list of them): `mapping` holds nodes `{id, message, parent, children}`, the
 * first of them empty, and `current_node` is the one that is shown. An answer is several messages: thoughts, calls of tools (`recipient` is
 * the tool), what tools said (`author.role` is `tool`), the text.
 */
export function readChatGpt(entry: JsonRecord, notes: NoteCounts): ForeignTree {
  const { mapping } = entry;
  if (!isRecord(mapping)) throw shapeFault('It has no mapping of nodes.');
  const messages = Object.entries(mapping).map(([key, node]) => messageOf(key, node, notes));
  return {
    ...{ format: 'chatgpt', provider: 'chatgpt', model: textOf(entry['default_model_slug']), messages },
    id: idOf(entry['conversation_id']) ?? idOf(entry['id']),
    startedAt: instantOf(entry['create_time'], notes),
    current: idOf(entry['current_node']),
  };
}

function messageOf(key: string, node: unknown, notes: NoteCounts): ForeignMessage {
  if (!isRecord(node)) throw shapeFault(`Node ${key} is no object.`);
  const { id, parent, children, message } = node;
  const named = listOf(children).flatMap((child) => idOf(child) ?? []);
  const place = { id: idOf(id) ?? key, parent: idOf(parent), ...(Array.isArray(children) && { children: named }) };
  if (message === null || message === undefined) return { ...place, at: null, says: null };
  if (!isRecord(message)) throw shapeFault(`The message of node ${key} is no object.`);
  return { ...place, at: instantOf(message['create_time'], notes), says: saidBy(message, key, notes) };
}

function saidBy(message: JsonRecord, key: string, notes: NoteCounts): ForeignMessage['says'] {
  const role = textOf(recordOf(message['author'])['role']);
  const content = recordOf(message['content']);
  const type = textOf(content['content_type']);
  // A line for the window: how long it thought.
  if (type === 'reasoning_recap') return null;
  const text = contentText(content, notes);
  if (role === 'assistant' && !CONTEXT.has(type))
    return { answer: { ...ending(message), parts: partsOf(message, content, text) } };
  if (role === 'tool') return { answer: { parts: [resultOf(message, content, text)] } };
  const hidden = recordOf(message['metadata'])['is_visually_hidden_from_conversation'] === true;
  if (role === 'user' && !hidden && !CONTEXT.has(type)) {
    for (const _ of listOf(recordOf(message['metadata'])['attachments'])) notes.add('attachment');
    return { question: text };
  }
  if (text === '') return null;
  if (!['user', 'assistant', 'system', 'developer'].includes(role))
    throw new ForeignFault('unknown_role', `Node ${key} is by somebody who is neither user, assistant nor tool.`);
  notes.add('system_left_out');
  return null;
}

/** What the user or the model had set for all conversations. */
const CONTEXT = new Set(['user_editable_context', 'model_editable_context']);

function ending(message: JsonRecord): Omit<Answered, 'parts'> {
  const metadata = recordOf(message['metadata']);
  const model = textOf(metadata['model_slug']);
  const stopReason = textOf(recordOf(metadata['finish_details'])['type']);
  return { ...(model !== '' && { model }), ...(stopReason !== '' && { stopReason }) };
}

function partsOf(message: JsonRecord, content: JsonRecord, text: string): readonly AnswerPart[] {
  const type = content['content_type'];
  if (type === 'thoughts') return text === '' ? [] : [{ type: 'reasoning', text }];
  const recipient = textOf(message['recipient']);
  if (recipient !== '' && recipient !== 'all') return [{ type: 'tool_call', name: recipient, arguments: text }];
  if (text === '') return [];
  const language = textOf(content['language']);
  const known = language === 'unknown' ? '' : language;
  return [{ type: 'assistant', text: type === 'code' ? `\`\`\`${known}\n${text}\n\`\`\`` : text }];
}

function resultOf(message: JsonRecord, content: JsonRecord, text: string): AnswerPart {
  const name = textOf(recordOf(message['author'])['name']);
  const status = textOf(recordOf(recordOf(message['metadata'])['aggregate_result'])['status']);
  const isError = content['content_type'] === 'system_error' || status.startsWith('failed');
  return { type: 'tool_result', ...(name !== '' && { name }), text, isError };
}

function contentText(content: JsonRecord, notes: NoteCounts): string {
  const at = (field: string): string => textOf(content[field]);
  switch (at('content_type')) {
    case 'text':
    case 'multimodal_text':
      return lines(...listOf(content['parts']).map((part) => partText(part, notes)));
    case 'code':
    case 'execution_output':
      return at('text');
    case 'thoughts':
      return listOf(content['thoughts'])
        .map(recordOf)
        .map((thought) => lines(textOf(thought['summary']), textOf(thought['content'])))
        .join('\n\n');
    case 'tether_browsing_display':
      return lines(at('summary'), at('result'));
    case 'tether_quote':
    case 'sonic_webpage':
      return lines(at('title'), at('url'), at('text'));
    case 'system_error':
      return lines(at('name'), at('text'));
    case 'user_editable_context':
      return lines(at('user_profile'), at('user_instructions'));
    case 'model_editable_context':
      return at('model_set_context');
    default:
      if (Object.keys(content).length === 0) return '';
      notes.add('unknown_content');
      return jsonOf(content);
  }
}

function partText(part: unknown, notes: NoteCounts): string {
  if (typeof part === 'string') return part;
  const { content_type: type, text, asset_pointer: pointer } = recordOf(part);
  switch (type) {
    case 'audio_transcription':
      return textOf(text);
    case 'image_asset_pointer':
      notes.add('attachment');
      return `[image ${textOf(pointer)}]`;
    case 'audio_asset_pointer':
    case 'real_time_user_audio_video_asset_pointer':
    case 'video_container_asset_pointer':
      notes.add('attachment');
      return '';
    default:
      if (part === null) return '';
      notes.add('unknown_content');
      return jsonOf(part);
  }
}
