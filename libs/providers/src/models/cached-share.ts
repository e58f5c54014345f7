import type { CacheRules } from './model-facts';

export interface SharedPrefix {
  /** Of the whole request. */
  readonly inputTokens: number;
  readonly bytes: number;
  /** That the request before it on the path had too. */
  readonly prefixBytes: number;
  /** Since that one. */
  readonly sinceMs: number;
}

/**
 * How many tokens of a request its provider should still have, by the bytes that it shares with the one before: as many of its tokens as these
 * are of its bytes. A forecast: whether a provider keeps what it may is its own affair.
 */
export function predictedCachedTokens(
  rules: CacheRules | null,
  { inputTokens, bytes, prefixBytes, sinceMs }: SharedPrefix,
): number {
  if (rules === null || bytes <= 0 || sinceMs > rules.lifetimeMs) return 0;
  const shared = Math.floor((inputTokens * Math.min(prefixBytes, bytes)) / bytes);
  return shared < rules.minTokens ? 0 : shared - (shared % rules.stepTokens);
}
