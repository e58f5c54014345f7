import type { ItemTag, NodeId, ToolCallId } from '@palimpsest/conversation';
import type { NodeRecord } from '../node-record';
import type { PathFold } from '../path-fold';
import type { HeldTexts } from './held-texts';
import type { LineageItem } from './lineage-items';

/** A summary in a request that stands there for a node of its lineage. */
export interface Standing {
  readonly by: 'segment' | 'compaction';
  readonly node: NodeRecord;
}

/** The summaries that a request's coverage is made from, with those that they went on from. Whoever asks reads them into the fold first. */
export function summariesBehind(
  lineage: readonly NodeRecord[],
  fold: PathFold,
  held: Pick<HeldTexts, 'summaries'>,
): readonly NodeId[] {
  const named = [
    ...held.summaries,
    ...fold.segmentsOn(lineage).map(({ summary }) => summary),
    ...lineage.flatMap(({ continues }) => continues ?? []),
  ];
  return [...new Set(named.flatMap((id) => [id, ...chainOf(fold, id)]))];
}

/** By place on the lineage, what stands in the request for the node there; undefined: nothing does. */
export function standingsOn(
  lineage: readonly NodeRecord[],
  fold: PathFold,
  held: HeldTexts,
): readonly (Standing | undefined)[] {
  const standings = new Array<Standing | undefined>(lineage.length).fill(undefined);
  const places = new Map(lineage.map(({ nodeId }, at) => [nodeId, at]));
  for (const [at, node] of [...lineage.entries()].reverse())
    if (node.kind === 'compaction' && held.summaries.has(node.nodeId))
      standings.fill({ by: 'compaction', node }, 0, at);
  for (const summary of held.summaries) {
    if (places.has(summary)) continue;
    const node = fold.node(summary);
    if (!node) throw new Error(`The summary ${summary} stands in the request and was not read.`);
    const { from, to } = runOf(node, lineage, places, fold);
    standings.fill({ by: 'segment', node }, from, to + 1);
  }
  return standings;
}

/** The run that a summary stands for: as a request on the lineage said it, else as the summary was asked for. */
function runOf(
  { nodeId, parent, continues, segment }: NodeRecord,
  lineage: readonly NodeRecord[],
  places: ReadonlyMap<NodeId, number>,
  fold: PathFold,
): { readonly from: number; readonly to: number } {
  const said = fold.segmentsOn(lineage).find(({ summary }) => summary === nodeId);
  const placeOf = (id: NodeId | null | undefined): number => {
    const at = places.get(id ?? '');
    if (at === undefined) throw new Error(`The summary ${nodeId} stands for nodes that are not on the lineage.`);
    return at;
  };
  if (said) return { from: placeOf(said.from), to: placeOf(said.to) };
  const to = placeOf(parent);
  if (!segment) return { from: 0, to };
  if (continues !== null) return { from: placeOf(fold.node(continues)?.parent) + 1, to };
  return { from: 1 + lineage.findLastIndex(({ kind }, at) => at <= to && kind === 'compaction'), to };
}

/**
 * What summaries were not told, by node and place: whatever one went on from, it knows no more of. A result goes where its call went: a summary
 * that was asked for right behind the call sent it itself, and not as an item of the lineage.
 */
export function leftOutOf(
  lineage: readonly NodeRecord[],
  fold: PathFold,
  held: HeldTexts,
): { tagOf(item: Pick<LineageItem, 'nodeId' | 'place' | 'toolCallId'>): ItemTag | undefined } {
  const summaries = summariesBehind(lineage, fold, held).flatMap((id) => fold.node(id) ?? []);
  const tags = new Map<string, ItemTag>();
  for (const { leftOut = [] } of [...summaries, ...lineage])
    for (const { nodeId, item, tag } of leftOut) tags.set(`${nodeId}/${item}`, tag);
  const ofCalls = new Map<ToolCallId, ItemTag>();
  for (const { nodeId, received } of lineage)
    received?.items.forEach((item, at) => {
      const tag = item.type === 'tool_call' ? tags.get(`${nodeId}/received/${at}`) : undefined;
      if (item.type === 'tool_call' && tag !== undefined) ofCalls.set(item.toolCallId, tag);
    });
  return {
    tagOf: ({ nodeId, place, toolCallId }) => tags.get(`${nodeId}/${place}`) ?? ofCalls.get(toolCallId ?? ''),
  };
}

/** The summaries from which this one goes on, the nearest first, as far as they were read; the first that was not is the last one. */
function chainOf(fold: PathFold, summary: NodeId): readonly NodeId[] {
  const chain: NodeId[] = [];
  for (let id = fold.node(summary)?.continues ?? null; id !== null; id = fold.node(id)?.continues ?? null)
    chain.push(id);
  return chain;
}
