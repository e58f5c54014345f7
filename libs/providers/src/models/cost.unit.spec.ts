import { predictedCachedTokens } from './cached-share';
import { costOf } from './cost';
import { createModelRegistry } from './registry';

const registry = createModelRegistry();
const priceOf = (provider: 'openai' | 'anthropic', name: string) => {
  const { price } = registry.find(provider, name);
  if (!price) throw new Error(`${name} has no price.`);
  return price;
};

describe('the cost of a call', () => {
  it('counts each input token once: cached, written to the cache, or neither', () => {
    const usage = { inputTokens: 100_000, cachedInputTokens: 60_000, cacheWriteTokens: 30_000, outputTokens: 2_000 };
    // 10,000 at 1, 60,000 at 0.10, 30,000 at 1.25 and 2,000 at 5 US dollars a million.
    expect(costOf(priceOf('anthropic', 'claude-haiku-4-5'), usage)).toBeCloseTo(0.0635, 10);
  });

  it('charges a long request the dearer rates from its first token on', () => {
    const price = priceOf('openai', 'gpt-6.2-sol');
    const usage = { cachedInputTokens: 0, outputTokens: 1_000_000 };
    expect(costOf(price, { ...usage, inputTokens: 272_000 })).toBeCloseTo(0.544 + 10, 10);
    expect(costOf(price, { ...usage, inputTokens: 272_001 })).toBeCloseTo(1.088004 + 15, 10);
  });
});

describe('the cached share that is predicted', () => {
  const { cache: openai } = registry.find('openai', 'gpt-4.1');
  const { cache: claude } = registry.find('anthropic', 'claude-haiku-4-5');
  const request = { inputTokens: 10_000, bytes: 40_000, prefixBytes: 30_000, sinceMs: 1000 };

  it('is the share of the bytes, in the steps of the provider', () => {
    expect(predictedCachedTokens(claude, request)).toBe(7500);
    expect(predictedCachedTokens(openai, request)).toBe(7424);
  });

  it('is none below the shortest prefix that is kept, after its lifetime, and where nothing is kept', () => {
    expect(predictedCachedTokens(claude, { ...request, prefixBytes: 16_383 })).toBe(0);
    expect(predictedCachedTokens(claude, { ...request, sinceMs: 300_001 })).toBe(0);
    expect(predictedCachedTokens(null, request)).toBe(0);
    expect(predictedCachedTokens(claude, { ...request, bytes: 0, prefixBytes: 0 })).toBe(0);
  });
});
