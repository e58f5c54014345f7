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

/** Where a letter and a figure meet, or a capital follows a small letter, a tokenizer's word ends: ids, hashes, base64. */
const SEAM = 5;
const kinds = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 48 && code <= 57) return 1;
  if (code >= 65 && code <= 90) return 2;
  return code >= 97 && code <= 122 ? 3 : 0;
});

function weigh(text: string): number {
  let weight = 0;
  let before = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? (kinds[code] as number) : 0;
    weight += weightOf(code);
    // A word may begin with a capital.
    if (kind !== before && kind !== 0 && before !== 0 && !(before === 2 && kind === 3)) weight += SEAM;
    before = kind;
  }
  return weight;
}

/** Of a tokenizer, or of an estimate. `factor`: by how much a model's own counts were larger. */
export type MakeCounter = (factor?: number) => TokenCounter;

/** Counters that share one measure of a text, in tokens or parts of them. A segment never changes, so each of its pieces is measured once. */
export function countersBy(measure: (text: string) => number): MakeCounter {
  const measured = new WeakMap<Segment, readonly number[]>();
  const ofPieces = (segment: Segment): readonly number[] => {
    let known = measured.get(segment);
    if (!known) measured.set(segment, (known = segment.map(({ text }) => measure(text))));
    return known;
  };
  return (factor = 1) => {
    const tokens = (size: number): number => Math.ceil(size * factor);
    const ofSegment = (segment: Segment): number => ofPieces(segment).reduce((sum, size) => sum + tokens(size), 0);
    return {
      text: (text) => tokens(measure(text)),
      request: ({ head, messages, tail }) =>
        [head, ...messages, tail].reduce((sum, segment) => sum + ofSegment(segment), 0),
    };
  };
}

/** For models whose tokenizer is not at hand. */
export const estimatingCounter: MakeCounter = countersBy((text) => weigh(text) / TOKEN_WEIGHT);
