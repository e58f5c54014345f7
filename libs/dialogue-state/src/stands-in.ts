import { parseDecimal, toDecimal } from './numbers';
import { quoteStands } from './quote';
import type { FieldDefinition } from './schema';
import type { StateValue } from './statement';
import { showValue } from './value';

/** A number as people write it, with a word of scale behind it where there is one. */
const NUMBERS =
  /\d[\d,]*(?:\.\d+)?(?:\s?(?:k|thousand|m|million|bn|billion)\b|\s?[십백천만억조][\d\s,일이삼사오육칠팔구십백천만억조]*)?/giu;

/** Whether a reader of a text finds a value of a field in it: as it was said or as it is shown; a number however it is written there. */
export function standsIn(text: string, field: FieldDefinition, value: StateValue, locale: string): boolean {
  if (quoteStands(String(value.value), text) || quoteStands(showValue(field, value, locale), text)) return true;
  if ((field.type !== 'number' && field.type !== 'money') || typeof value.value === 'boolean') return false;
  const wanted = toDecimal(value.value);
  return [...text.normalize('NFKC').matchAll(NUMBERS)].some(([found]) => parseDecimal(found) === wanted);
}
