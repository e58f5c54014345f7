import { cutBefore } from './cut';
import { TOKEN_WEIGHT, weightOf } from '../tokens';

/** Where each page of a text begins, and behind the last where the text ends. A page has so many tokens at most, about. */
export function pagesOf(text: string, tokensPerPage: number): readonly number[] {
  const most = tokensPerPage * TOKEN_WEIGHT;
  const starts = [0];
  let from = 0;
  let weight = 0;
  for (let at = 0; at < text.length; at += 1) {
    weight += weightOf(text.charCodeAt(at));
    if (weight <= most || at === from) continue;
    from = cutBefore(text, from, at);
    starts.push(from);
    // What was cut off at a line is weighed again, on the next page.
    at = from - 1;
    weight = 0;
  }
  return [...starts, text.length];
}
