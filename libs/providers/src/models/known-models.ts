import type { CacheRules, ModelFacts, ModelPrice, Rates } from './model-facts';

const minute = 60_000;
const reserve = 32_000;

/** A million tokens in US dollars: input, cached input, cache write, output. */
const usd = (input: number, cachedInput: number, cacheWrite: number, output: number): ModelPrice => ({
  ...{ currency: 'USD', input, cachedInput, cacheWrite, output },
});

/** Beyond so many tokens of input, all input costs `times` as much, and the output `outputTimes`. */
function dearerAbove(inputTokens: number, price: ModelPrice, times: number, outputTimes: number): ModelPrice {
  const { input, cachedInput, cacheWrite, output } = price;
  const rates: Rates = {
    ...{ input: input * times, cachedInput: cachedInput * times, cacheWrite: cacheWrite * times },
    output: output * outputTimes,
  };
  return { ...price, above: { inputTokens, ...rates } };
}

type Fact = Omit<ModelFacts, 'known' | 'inputCap'> & { readonly inputCap?: number };

/**
 * Windows, prices and cache rules: platform.claude.com/docs/en/about-claude/pricing, .../about-claude/models and
 * .../build-with-claude/prompt-caching, as they stood in 2026-11. A cache write is the one of five minutes. Where the page did not say from
 * how many tokens on a prompt is kept (the 5.5 family), it is the 1,024 of most.
 */
const claude = (name: string, contextWindow: number, minTokens: number, price: ModelPrice): Fact => ({
  ...{ provider: 'anthropic', name, contextWindow, outputReserve: reserve, price, tokenizer: 'estimate' },
  cache: { minTokens, stepTokens: 1, lifetimeMs: 5 * minute, marks: 4 },
});

const openAiCache = (lifetimeMs: number): CacheRules => ({ minTokens: 1024, stepTokens: 128, lifetimeMs, marks: null });

/**
 * developers.openai.com/api/docs/models (a page for each), .../pricing and .../guides/prompt-caching, as they stood in 2026-11. From GPT-5.6
 * on a cache write costs 1.25 times the input and lasts for 30 minutes; before, it cost no more than input and lasted for five at least.
 */
const gpt = (name: string, contextWindow: number, price: ModelPrice, lifetimeMs = 5 * minute): Fact => ({
  ...{
    provider: 'openai',
    name,
    contextWindow,
    outputReserve: Math.min(reserve, Math.floor(contextWindow / 8)),
    price,
  },
  ...{ tokenizer: 'o200k_base', cache: openAiCache(lifetimeMs) },
});

/** 922,000 tokens of input at most, and dearer from 272,000 on. */
const gptLong = (name: string, price: ModelPrice, lifetimeMs?: number): Fact => ({
  ...gpt(name, 1_050_000, dearerAbove(272_000, price, 2, 1.5), lifetimeMs),
  inputCap: 922_000,
});

const million = 1_000_000;

export const knownModels: readonly Fact[] = [
  claude('claude-fable-5-1', million, 1024, usd(10, 0.25, 12.5, 50)),
  claude('claude-opus-5-5', million, 1024, usd(4, 0.2, 5, 20)),
  claude('claude-opus-5', million, 512, usd(5, 0.5, 6.25, 25)),
  claude('claude-opus-4-8', million, 1024, usd(5, 0.5, 6.25, 25)),
  claude('claude-sonnet-5-5', million, 1024, usd(2, 0.2, 2.5, 10)),
  claude('claude-sonnet-5', million, 1024, usd(2, 0.2, 2.5, 10)),
  claude('claude-sonnet-4-6', million, 1024, usd(3, 0.3, 3.75, 15)),
  claude('claude-sonnet-4-5', 200_000, 1024, usd(3, 0.3, 3.75, 15)),
  claude('claude-haiku-5-5', million, 1024, dearerAbove(100_000, usd(0.1, 0.01, 0.125, 0.5), 5, 5)),
  claude('claude-haiku-4-5', 200_000, 4096, usd(1, 0.1, 1.25, 5)),
  gptLong('gpt-6.2-sol', usd(2, 0.1, 2.5, 10), 30 * minute),
  gptLong('gpt-6.1-sol', usd(2, 0.1, 2.5, 10), 30 * minute),
  gptLong('gpt-6-astra', usd(10, 1, 12.5, 50), 30 * minute),
  gptLong('gpt-6-sol', usd(2, 0.2, 2.5, 10), 30 * minute),
  gptLong('gpt-6-luna', usd(0.1, 0.01, 0.125, 0.5), 30 * minute),
  gptLong('gpt-5.6-terra', usd(2, 0.2, 2.5, 12), 30 * minute),
  gptLong('gpt-5.6-luna', usd(0.2, 0.02, 0.25, 1.2), 30 * minute),
  gptLong('gpt-5.4', usd(2.5, 0.25, 2.5, 15)),
  gpt('gpt-4.1', 1_047_576, usd(2, 0.5, 2, 8)),
  gpt('gpt-4.1-mini', 1_047_576, usd(0.4, 0.1, 0.4, 1.6)),
  gpt('gpt-4.1-nano', 1_047_576, usd(0.1, 0.025, 0.1, 0.4)),
  gpt('gpt-4o', 128_000, usd(2.5, 1.25, 2.5, 10)),
  gpt('gpt-4o-mini', 128_000, usd(0.15, 0.075, 0.15, 0.6)),
];

/** The program of this installation that stands in for a model: four characters are a token there, and it keeps blocks of 128. */
export const simulatedModel: Fact = {
  ...{ provider: 'simulated', name: 'simulated', contextWindow: 132_096, outputReserve: 4096, inputCap: 128_000 },
  ...{ price: usd(0, 0, 0, 0), tokenizer: 'estimate' },
  cache: { minTokens: 128, stepTokens: 128, lifetimeMs: 5 * minute, marks: null },
};

/** Of a name that nobody has said anything of: small enough for most servers of one's own. */
export const unknownModel = {
  ...{ contextWindow: 32_768, outputReserve: 4096, price: null, cache: null, tokenizer: 'estimate' },
} as const satisfies Omit<Fact, 'provider' | 'name'>;
