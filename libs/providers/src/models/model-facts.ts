import type { ModelChoice } from '@palimpsest/assistant';

/** What is known of a model: what fits into a request, what it costs, what its provider keeps of it, and how its tokens are counted. */
export interface ModelFacts {
  readonly provider: ModelChoice['provider'];
  readonly name: string;
  /** Tokens of a request and its answer together. */
  readonly contextWindow: number;
  /** Tokens that are kept free for the answer where an assistant does not say how many. */
  readonly outputReserve: number;
  /** Tokens of a request at most; never more than the window less the reserve. */
  readonly inputCap: number;
  /** Null where nobody has said what it costs. */
  readonly price: ModelPrice | null;
  /** Null where its provider keeps no prompts. */
  readonly cache: CacheRules | null;
  /** `estimate`: there is none at hand, and the count is made from the text's characters. */
  readonly tokenizer: Tokenizer;
  /** False for a name that the registry does not have: these are then its defaults. */
  readonly known: boolean;
}

export const tokenizers = ['o200k_base', 'cl100k_base', 'estimate'] as const;
export type Tokenizer = (typeof tokenizers)[number];

/** Of a million tokens of each kind. */
export interface Rates {
  readonly input: number;
  readonly cachedInput: number;
  /** Of input that the provider keeps for later requests. */
  readonly cacheWrite: number;
  readonly output: number;
}

export interface ModelPrice extends Rates {
  /** ISO 4217. */
  readonly currency: string;
  /** Of a request with more input tokens than these, from its first token on. */
  readonly above?: Rates & { readonly inputTokens: number };
}

export interface CacheRules {
  /** A shorter prefix is not kept. Tokens. */
  readonly minTokens: number;
  /** What is kept is a multiple of these. Tokens. */
  readonly stepTokens: number;
  /** How long a prefix is kept after its last use, at least. Milliseconds. */
  readonly lifetimeMs: number;
  /** Marks in a request at most, at the end of what is to be kept; null where the provider needs none. */
  readonly marks: number | null;
}
