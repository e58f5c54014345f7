import type { ReceivedItem, SourcedText } from '@palimpsest/context';
import { isJsonObject, isRecord, type JsonRecord, recordsOf, stringOf } from '../json';

const MESSAGE = '/response/choices/0/message';
/** The answer was cut here: a last call whose arguments are no whole object is partial, and no call. */
const CUT: ReadonlySet<unknown> = new Set(['length', 'content_filter']);
const REASONING = ['reasoning_content', 'reasoning'];

export function messageOf(response: JsonRecord): JsonRecord {
  const message = recordsOf(response['choices'])[0]?.['message'];
  return isRecord(message) ? message : {};
}

export function argumentsPointer(index: number): string {
  return `${MESSAGE}/tool_calls/${index}/function/arguments`;
}

export function messagePointer(field: string): string {
  return `${MESSAGE}/${field}`;
}

export function itemsOfOpenAi(response: JsonRecord, nodeId: string, revision: number): readonly ReceivedItem[] {
  const message = messageOf(response);
  const at = (pointer: string, text: string): SourcedText => ({ text, source: { revision, pointer } });
  const items: ReceivedItem[] = [];
  const reasoning = REASONING.find((field) => stringOf(message[field]) !== '');
  if (reasoning !== undefined) {
    items.push({ type: 'reasoning', text: at(messagePointer(reasoning), stringOf(message[reasoning])) });
  }
  for (const [pointer, text] of textsOf(message)) items.push({ type: 'assistant', text: at(pointer, text) });
  const cut = CUT.has(recordsOf(response['choices'])[0]?.['finish_reason']);
  let index = 0;
  recordsOf(message['tool_calls']).forEach((call, place) => {
    const fn = isRecord(call['function']) ? call['function'] : {};
    const raw = stringOf(fn['arguments']);
    if (cut && !isJsonObject(raw)) return;
    items.push({
      type: 'tool_call',
      toolCallId: `${nodeId}-${index++}`,
      providerCallId: stringOf(call['id']),
      name: stringOf(fn['name']),
      arguments: at(argumentsPointer(place), raw),
    });
  });
  return items;
}

/** Text is a string, or with some servers a list of parts. A refusal is what the model said. */
function textsOf(message: JsonRecord): readonly (readonly [string, string])[] {
  const content = message['content'];
  const texts: [string, string][] = [];
  if (typeof content === 'string') texts.push([messagePointer('content'), content]);
  if (Array.isArray(content)) {
    content.forEach((part: unknown, index) => {
      if (isRecord(part)) texts.push([messagePointer(`content/${index}/text`), stringOf(part['text'])]);
    });
  }
  texts.push([messagePointer('refusal'), stringOf(message['refusal'])]);
  return texts.filter(([, text]) => text !== '');
}
