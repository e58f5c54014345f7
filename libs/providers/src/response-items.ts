import type { ReceivedItem } from '@palimpsest/context';
import { itemsOfAnthropic } from './anthropic-messages/items';
import { isRecord } from './json';
import { itemsOfNeutral, NEUTRAL_FORMAT } from './neutral-items';
import { itemsOfOpenAi } from './openai-chat/items';

/** The items of a stored response, by the format that it names. A response of no known format has none. */
export function itemsOfResponse(response: unknown, nodeId: string, revision: number): readonly ReceivedItem[] {
  if (!isRecord(response)) return [];
  switch (response['format']) {
    case 'openai.chat':
      return itemsOfOpenAi(response, nodeId, revision);
    case 'anthropic.messages':
      return itemsOfAnthropic(response, nodeId, revision);
    case NEUTRAL_FORMAT:
      return itemsOfNeutral(response, nodeId, revision);
    default:
      return [];
  }
}

/** The text of an answer as a person reads it: texts side by side are one, texts apart are paragraphs. */
export function textOfItems(items: readonly ReceivedItem[]): string {
  let text = '';
  items.forEach((item, index) => {
    if (item.type !== 'assistant') return;
    text += (text === '' || items[index - 1]?.type === 'assistant' ? '' : '\n\n') + item.text.text;
  });
  return text;
}
