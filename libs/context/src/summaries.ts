import type { ActiveConversation, NodeId } from '@palimpsest/conversation';
import type { SummarySegment } from './items';
import type { NodeRecord } from './node-record';

/** A path as requests hold it: each run that is summarised as its summary. A run that is not whole on the path stays as it is. */
export function summarised(
  path: readonly NodeRecord[],
  segments: readonly SummarySegment[],
  nodeOf: (nodeId: NodeId) => NodeRecord | undefined,
): readonly NodeRecord[] {
  if (segments.length === 0) return path;
  const places = placesOn(path);
  const shown: NodeRecord[] = [];
  let next = 0;
  for (const { summary, from, to } of segments) {
    const [first, last] = [places.get(from), places.get(to)];
    if (first === undefined || last === undefined || first < next || last < first) continue;
    const node = nodeOf(summary);
    if (!node) throw new Error(`The summary ${summary} stands for a run of the path and was not read.`);
    shown.push(...path.slice(next, first), node);
    next = last + 1;
  }
  return [...shown, ...path.slice(next)];
}

/** Which nodes of a path are summarised: requests hold nothing of them. */
export function coveredOn(
  path: readonly { readonly nodeId: NodeId }[],
  segments: readonly SummarySegment[],
): ReadonlySet<NodeId> {
  const places = placesOn(path);
  const covered = segments.flatMap(({ from, to }) => {
    const [first, last] = [places.get(from), places.get(to)];
    return first === undefined || last === undefined ? [] : path.slice(first, last + 1).map(({ nodeId }) => nodeId);
  });
  return new Set(covered);
}

/**
 * Summaries that are there and of which no request on this path has made use, in order: each goes on from the one before. Where two were made
 * of one run the older counts, whoever looks.
 */
export function unusedSegments(
  { nodes }: Pick<ActiveConversation, 'nodes'>,
  path: readonly Pick<NodeRecord, 'nodeId' | 'kind'>[],
  used: readonly SummarySegment[],
): readonly SummarySegment[] {
  const places = placesOn(path);
  const made = [...nodes].flatMap(([summary, node]) =>
    node.kind === 'summary' && node.segment && node.status === 'succeeded' ? [{ summary, ...node }] : [],
  );
  const found: SummarySegment[] = [];
  let last = used.at(-1);
  for (;;) {
    // What a compaction stands for is not summarised again.
    const start = last ? (places.get(last.to) ?? -1) + 1 : path[0]?.kind === 'compaction' ? 1 : 0;
    const next = made
      .filter(({ continues, parent }) => continues === last?.summary && (places.get(parent) ?? -1) >= start)
      .sort((a, b) => a.requestedAt - b.requestedAt)[0];
    const from = path[start]?.nodeId;
    if (!next || from === undefined) return found;
    last = { summary: next.summary, from, to: next.parent };
    found.push(last);
  }
}

const placesOn = (path: readonly Pick<NodeRecord, 'nodeId'>[]): ReadonlyMap<NodeId, number> =>
  new Map(path.map(({ nodeId }, at) => [nodeId, at]));
