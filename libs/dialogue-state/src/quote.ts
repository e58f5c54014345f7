import type { By } from './statement';
import { fold } from './text';

/**
 * Whether these words stand in the text. Compared as `fold` does, and at the borders of words and numbers: "10" does not stand in
 * "10,000" nor in "10만원", and "art" not in "start". Scripts that join particles to words (Korean, Japanese, Chinese) have no such border
 * between letters: "예산" stands in "예산은".
 */
export function quoteStands(quote: string, text: string): boolean {
  const words = straight(quote);
  const within = straight(text);
  if (!/[\p{L}\p{N}]/u.test(words)) return false;
  for (let at = within.indexOf(words); at >= 0; at = within.indexOf(words, at + 1)) {
    const end = at + words.length;
    if (!splits(within, at) && !splits(within, end)) return true;
  }
  return false;
}

/**
 * Who a claim counts as coming from. What is said to be the user's words (`user`, or found by a `rule`) is so only where the quote stands
 * in the user item of the turn; else it is what a model inferred.
 */
export function attest(by: By, quote: string | undefined, question: string): By {
  if (by !== 'user' && by !== 'rule') return by;
  return quote !== undefined && quoteStands(quote, question) ? by : 'model';
}

const straight = (text: string): string => fold(text).replace(/[‘’]/g, "'").replace(/[“”]/g, '"');

const WORD = /[\p{L}\p{M}]/u;
const JOINED = /[\p{Script=Hangul}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const DIGIT = /\p{Nd}/u;
const MULTIPLIER = /[십백천만억조]/;

/** Whether a border here would cut a word or a number in two. */
function splits(text: string, at: number): boolean {
  const left = before(text, at);
  const right = after(text, at);
  if (DIGIT.test(left)) {
    if (DIGIT.test(right) || MULTIPLIER.test(right)) return true;
    if (/[.,]/.test(right)) return DIGIT.test(after(text, at + 1));
    return WORD.test(right) && !JOINED.test(right);
  }
  if (DIGIT.test(right)) {
    if (/[.,]/.test(left)) return DIGIT.test(before(text, at - 1));
    return WORD.test(left) && !JOINED.test(left);
  }
  return WORD.test(left) && WORD.test(right) && !JOINED.test(left) && !JOINED.test(right);
}

const after = (text: string, at: number): string => {
  const point = text.codePointAt(at);
  return point === undefined ? '' : String.fromCodePoint(point);
};

const before = (text: string, at: number): string => {
  const low = text.charCodeAt(at - 1);
  return at > 1 && low >= 0xdc00 && low <= 0xdfff ? text.slice(at - 2, at) : text.slice(Math.max(at - 1, 0), at);
};
