import type { PrefixBreak, Usage } from '@palimpsest/conversation';
import { costOf, type ModelFacts, type ModelRegistry, predictedCachedTokens } from '@palimpsest/providers';
import type { UsageRow } from '@palimpsest/read-models';
import type { CallUsageView, CostView, TurnUsageView, UsageSum, UsageView } from '../views';
import { addUsage, noUsage } from './add-usage';

/** A page of what the calls of a conversation took, `rows` being all of them, in the order in which they were made. */
export function usageView(
  rows: readonly UsageRow[],
  models: ModelRegistry,
  { limit, after }: { readonly limit: number; readonly after: number },
): UsageView {
  const total = new Sum();
  const turns = new Map<string, Sum>();
  const calls = rows.map((row): CallUsageView => {
    const facts = models.find(row.provider as ModelFacts['provider'], row.model);
    const usage = usageOf(row);
    const cost = usage && facts.price ? money(facts.price.currency, costOf(facts.price, usage)) : null;
    const cache = cacheOf(row, facts, usage);
    const call: Spent = { usage, cost, failed: row.status === 'failed', failedAttempts: row.failed_attempts };
    total.add(call);
    if (row.turn_id !== null) sumOf(turns, row.turn_id).add(call);
    return {
      ...{ nodeId: row.node_id, turnId: row.turn_id, kind: row.kind, status: row.status },
      ...{ provider: row.provider, model: row.model, usage, estimatedTokens: numberOf(row.estimated_tokens) },
      ...{ cumulative: total.usage, cache, failedAttempts: row.failed_attempts, cost },
    };
  });
  const items = calls.slice(after, after + limit);
  const shown = [...new Set(items.flatMap(({ turnId }) => turnId ?? []))];
  return {
    total: total.view(),
    turns: shown.map((turnId): TurnUsageView => ({ turnId, ...sumOf(turns, turnId).view() })),
    items,
    next: after + limit < calls.length ? String(after + limit) : null,
  };
}

interface Spent {
  readonly usage: Usage | null;
  readonly cost: CostView | null;
  readonly failed: boolean;
  readonly failedAttempts: number;
}

/** What several calls took together. */
class Sum {
  /** As the providers reported it. */
  usage = noUsage;
  private calls = 0;
  private failedCalls = 0;
  private failedAttempts = 0;
  private unpricedCalls = 0;
  private readonly amounts = new Map<string, number>();

  add({ usage, cost, failed, failedAttempts }: Spent): void {
    this.calls += 1;
    this.failedCalls += failed ? 1 : 0;
    // The attempt that ended a failed call is one more.
    this.failedAttempts += failedAttempts + (failed ? 1 : 0);
    if (!usage) return;
    this.usage = addUsage(this.usage, usage);
    if (!cost) this.unpricedCalls += 1;
    else this.amounts.set(cost.currency, (this.amounts.get(cost.currency) ?? 0) + cost.amount);
  }

  view(): UsageSum {
    const { usage, calls, failedCalls, failedAttempts, unpricedCalls } = this;
    const cost = [...this.amounts].map(([currency, amount]) => money(currency, amount));
    return { usage, calls, failedCalls, failedAttempts, cost, unpricedCalls };
  }
}

function sumOf(sums: Map<string, Sum>, turnId: string): Sum {
  const known = sums.get(turnId) ?? new Sum();
  sums.set(turnId, known);
  return known;
}

function usageOf(row: UsageRow): Usage | null {
  if (row.input_tokens === null) return null;
  return {
    inputTokens: Number(row.input_tokens),
    cachedInputTokens: Number(row.cached_input_tokens),
    ...(row.cache_write_tokens === null ? {} : { cacheWriteTokens: Number(row.cache_write_tokens) }),
    outputTokens: Number(row.output_tokens),
  };
}

function cacheOf(row: UsageRow, facts: ModelFacts, usage: Usage | null): CallUsageView['cache'] {
  const inputTokens = usage?.inputTokens ?? numberOf(row.estimated_tokens) ?? 0;
  const bytes = Number(row.length);
  const prefixBytes = Number(row.prefix_bytes ?? 0n);
  const sinceMs = row.before_requested_at === null ? 0 : Number(row.requested_at) - Number(row.before_requested_at);
  const { broken_by, broken_in } = row;
  return {
    ...{ bytes, prefixBytes },
    ...(broken_by === null || broken_in === null
      ? {}
      : { brokenBy: { event: broken_by as PrefixBreak, nodeId: broken_in } }),
    predictedTokens: predictedCachedTokens(facts.cache, { inputTokens, bytes, prefixBytes, sinceMs }),
    billedTokens: usage?.cachedInputTokens ?? null,
  };
}

/** Billionths of a unit: what is smaller is dust of binary fractions. */
const money = (currency: string, amount: number): CostView => ({ currency, amount: Math.round(amount * 1e9) / 1e9 });

const numberOf = (value: bigint | null): number | null => (value === null ? null : Number(value));
