import type { ReceivedItem, SourcedText } from '@palimpsest/context';
import { isJsonObject, type JsonRecord, recordsOf, stringOf } from '../json';

/** The provider cut its answer there. It may leave a block open then: the collector marks it `unfinished`. */
const CUT: ReadonlySet<unknown> = new Set(['max_tokens', 'refusal', 'model_context_window_exceeded']);

export function isCutShort(response: JsonRecord): boolean {
  return CUT.has(response['stop_reason']);
}

export function blockPointer(index: number): string {
  return `/response/content/${index}`;
}

export function inputPointer(index: number): string {
  return `${blockPointer(index)}/input_json`;
}

export function itemsOfAnthropic(response: JsonRecord, nodeId: string, revision: number): readonly ReceivedItem[] {
  const at = (pointer: string, text: string): SourcedText => ({ text, source: { revision, pointer } });
  const cut = isCutShort(response);
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
      // A partial call is no call.
      if (block['unfinished'] === true || (cut && !isJsonObject(raw))) return;
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
