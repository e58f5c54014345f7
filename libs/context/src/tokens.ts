import type { RenderedRequest, Segment } from './segment';

/** Says how many tokens of a model a text has. Additive: a request has as many as its pieces. */
export interface TokenCounter {
  text(text: string): number;
  request(request: Pick<RenderedRequest, 'head' | 'messages' | 'tail'>): number;
}

/** Twelfths of a token: a letter of a word is a quarter of one, a capital or a sign of JSON half of one, a figure more. */
export const TOKEN_WEIGHT = 12;
const LETTER = 3;
const CAPITAL = 6;
const SIGN = 6;
const DIGIT = 8;
/** Latin with accents, Greek, Cyrillic, Hebrew, Arabic: two bytes in UTF-8. */
const TWO_BYTES = 6;
/** Hangul, Kana, Han: a syllable or character is about one token. Half of a pair, as of an emoji, counts the same. */
const THREE_BYTES = 12;

const ascii = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 48 && code <= 57) return DIGIT;
  if (code >= 65 && code <= 90) return CAPITAL;
  return (code >= 97 && code <= 122) || code === 32 ? LETTER : SIGN;
});

/** Twelfths of a token in one UTF-16 unit. */
export function weightOf(code: number): number {
  if (code < 128) return ascii[code] as number;
  return code < 0x800 ? TWO_BYTES : THREE_BYTES;
}

function weigh(text: string): number {
  let weight = 0;
  for (let at = 0; at < text.length; at += 1) weight += weightOf(text.charCodeAt(at));
  return weight;
}

/** A segment never changes, so it is weighed once: the weight of each of its pieces. */
const weights = new WeakMap<Segment, readonly number[]>();

function weightsOf(segment: Segment): readonly number[] {
  let known = weights.get(segment);
  if (!known) weights.set(segment, (known = segment.map(({ text }) => weigh(text))));
  return known;
}

/** A counter for models whose tokenizer is not at hand. `factor`: by how much its model's own counts were larger. */
export function estimatingCounter(factor = 1): TokenCounter {
  const tokens = (weight: number): number => Math.ceil((weight / TOKEN_WEIGHT) * factor);
  const ofSegment = (segment: Segment): number => weightsOf(segment).reduce((sum, weight) => sum + tokens(weight), 0);
  return {
    text: (text) => tokens(weigh(text)),
    request: ({ head, messages, tail }) =>
      [head, ...messages, tail].reduce((sum, segment) => sum + ofSegment(segment), 0),
  };
}
