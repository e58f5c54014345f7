import type { ReceivedItem, SourcedText } from '@palimpsest/context';
import { type JsonRecord, recordsOf, stringOf } from './json';

/** Tags an answer that is known by its items alone: no provider's bytes of it are at hand. */
export const NEUTRAL_FORMAT = 'palimpsest.items';

export type NeutralItem =
  | { readonly type: 'assistant' | 'reasoning'; readonly text: string }
  /** `arguments`: the raw text. */
  | { readonly type: 'tool_call'; readonly name: string; readonly arguments: string };

/** What `CallSucceeded` keeps of such an answer. It is native to no provider, so each renders it from its items. */
export interface NeutralResponse {
  readonly format: typeof NEUTRAL_FORMAT;
  readonly items: readonly NeutralItem[];
}

export const neutralResponse = (items: readonly NeutralItem[]): NeutralResponse => ({ format: NEUTRAL_FORMAT, items });

export function itemsOfNeutral(response: JsonRecord, nodeId: string, revision: number): readonly ReceivedItem[] {
  let calls = 0;
  return recordsOf(response['items']).flatMap((item, index): ReceivedItem[] => {
    const at = (field: 'text' | 'arguments'): SourcedText => ({
      text: stringOf(item[field]),
      source: { revision, pointer: `/response/items/${index}/${field}` },
    });
    const { type } = item;
    if (type === 'assistant' || type === 'reasoning') return [{ type, text: at('text') }];
    if (type !== 'tool_call') return [];
    const toolCallId = `${nodeId}-${calls++}`;
    return [{ type, toolCallId, providerCallId: '', name: stringOf(item['name']), arguments: at('arguments') }];
  });
}
