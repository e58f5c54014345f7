import type { Coverage, CoveredItem, LineageItem } from '@palimpsest/context';
import type { Page } from '../views';

/** An item of a request's lineage, and what became of it in the request. */
export interface CoveredItemView {
  readonly nodeId: string;
  /** `sent/0`, `received/0`: its place among the node's items; `partial`: what had arrived of an answer that failed. */
  readonly item: LineageItem['place'];
  readonly type: LineageItem['type'];
  /** Of a call or a result. */
  readonly toolCallId?: string;
  readonly coverage: Coverage;
  /** Of its whole text, in UTF-8. */
  readonly bytes: number;
}

export interface CoverageSum {
  readonly items: number;
  readonly bytes: number;
}

/** `lineage`: of all items; the others add up to it. */
export type CoverageTotals = Readonly<Record<'lineage' | Coverage['kind'], CoverageSum>>;

export interface CoverageView extends Page<CoveredItemView> {
  readonly nodeId: string;
  readonly totals: CoverageTotals;
}

export function coverageView(
  nodeId: string,
  covered: readonly CoveredItem[],
  { limit, after }: { readonly limit: number; readonly after: number },
): CoverageView {
  const items = covered.map(viewOf);
  const next = after + limit < items.length ? String(after + limit) : null;
  return { nodeId, totals: totalsOf(items), items: items.slice(after, after + limit), next };
}

function viewOf({ item: { nodeId, place, type, toolCallId, text }, coverage }: CoveredItem): CoveredItemView {
  const call = toolCallId === undefined ? {} : { toolCallId };
  return { nodeId, item: place, type, ...call, coverage, bytes: Buffer.byteLength(text.text) };
}

function totalsOf(items: readonly CoveredItemView[]): CoverageTotals {
  const sumOf = (some: readonly CoveredItemView[]): CoverageSum => ({
    items: some.length,
    bytes: some.reduce((sum, { bytes }) => sum + bytes, 0),
  });
  const of = (kind: Coverage['kind']) => sumOf(items.filter(({ coverage }) => coverage.kind === kind));
  return {
    lineage: sumOf(items),
    ...{ verbatim: of('verbatim'), folded: of('folded'), summarised: of('summarised') },
    ...{ filtered: of('filtered'), compacted: of('compacted'), omitted: of('omitted') },
  };
}
