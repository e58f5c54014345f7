import type { ReceivedItem, SourcedText } from '@palimpsest/context';
import { isJsonObject, type JsonRecord, recordsOf, stringOf } from '../json';

/** The answer was cut here: a call whose input is no whole object is partial, and no call. */
const CUT: ReadonlySet<unknown> = new Set(['max_tokens', 'refusal', 'model_context_window_exceeded']);

export function blockPointer(index: number): string {
  return `/response/content/${index}`;
}

export function inputPointer(index: number): string {
  return `${blockPointer(index)}/input_json`;
}

export function itemsOfAnthropic(response: JsonRecord, nodeId: string, revision: number): readonly ReceivedItem[] {
  const at = (pointer: string, text: string): SourcedText => ({ text, source: { revision, pointer } });
  const cut = CUT.has(response['stop_reason']);
  const items: ReceivedItem[] = [];
  let calls = 0;
  recordsOf(response['content']).forEach((block, index) => {
    const text = stringOf(block['text']);
    const thinking = stringOf(block['thinking']);
    if (block['type'] === 'text' && text !== '') {
      items.push({ type: 'assistant', text: at(`${blockPointer(index)}/text`, text) });
    } else if (block['type'] === 'thinking' && thinking !== '') {
      items.push({ type: 'reasoning', text: at(`${blockPointer(index)}/thinking`, thinking) });
    } else if (block['type'] === 'tool_use') {
      const raw = stringOf(block['input_json']);
      if (cut && !isJsonObject(raw)) return;
      items.push({
        type: 'tool_call',
        toolCallId: `${nodeId}-${calls++}`,
        providerCallId: stringOf(block['id']),
        name: stringOf(block['name']),
        arguments: at(inputPointer(index), raw),
      });
    }
  });
  return items;
}
