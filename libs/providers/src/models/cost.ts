import type { Usage } from '@palimpsest/conversation';
import type { ModelPrice } from './model-facts';

const MILLION = 1_000_000;

/** What an answered call cost, in the price's currency. */
export function costOf({ above, ...usual }: ModelPrice, usage: Usage): number {
  const { inputTokens, cachedInputTokens, cacheWriteTokens = 0, outputTokens } = usage;
  const { input, cachedInput, cacheWrite, output } = above && inputTokens > above.inputTokens ? above : usual;
  const plain = Math.max(0, inputTokens - cachedInputTokens - cacheWriteTokens);
  const parts = [plain * input, cachedInputTokens * cachedInput, cacheWriteTokens * cacheWrite, outputTokens * output];
  return parts.reduce((sum, part) => sum + part, 0) / MILLION;
}
