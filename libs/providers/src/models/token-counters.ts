import { countersBy, estimatingCounter, type MakeCounter } from '@palimpsest/context';
import type { Tokenizer } from './model-facts';

/**
 * Counters of a tokenizer. The tables of those that are counted exactly are loaded when they are first asked for: it takes about half a second
 * of this thread, and some 60 MB.
 */
export type TokenCounters = (tokenizer: Tokenizer) => Promise<MakeCounter>;

type Count = (text: string, options: { readonly disallowedSpecial: Set<string> }) => number;

const tables = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
} as const;

const loaded = new Map<Tokenizer, Promise<MakeCounter>>();

export const tokenCounters: TokenCounters = (tokenizer) => {
  if (tokenizer === 'estimate') return Promise.resolve(estimatingCounter);
  const known = loaded.get(tokenizer) ?? tables[tokenizer]().then(({ countTokens }) => exactly(countTokens));
  loaded.set(tokenizer, known);
  return known;
};

/** Characters that are counted at once: the time for a text without a break grows with the square of its length. */
const AT_ONCE = 512;
/** A longer text is estimated: counting takes half a second of this thread for a million characters. */
const MOST_COUNTED = 256 * 1024;
/** Names of special tokens in a text are text. */
const NOTHING_SPECIAL = { disallowedSpecial: new Set<string>() };

const estimate = estimatingCounter();

function exactly(count: Count): MakeCounter {
  return countersBy((text) => {
    if (text.length > MOST_COUNTED) return estimate.text(text);
    let tokens = 0;
    for (let from = 0; from < text.length;) {
      const to = cutAt(text, from);
      tokens += count(text.slice(from, to), NOTHING_SPECIAL);
      from = to;
    }
    return tokens;
  });
}

/** Before a space, where there is one: no token goes over it. Else anywhere, which makes one token more at most. */
function cutAt(text: string, from: number): number {
  const most = from + AT_ONCE;
  if (most >= text.length) return text.length;
  const space = text.lastIndexOf(' ', most);
  return space > from ? space : most;
}
