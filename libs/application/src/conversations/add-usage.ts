import type { Usage } from '@palimpsest/conversation';

export const noUsage: Usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };

/** What two of them took together. */
export function addUsage(one: Usage, other: Usage): Usage {
  const written = (one.cacheWriteTokens ?? 0) + (other.cacheWriteTokens ?? 0);
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    ...(written === 0 ? {} : { cacheWriteTokens: written }),
    outputTokens: one.outputTokens + other.outputTokens,
  };
}
