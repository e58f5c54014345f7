import type { ActiveConversation, NodeId } from '@palimpsest/conversation';
import type { SummarySegment } from './items';
import type { NodeRecord } from './node-record';

/** A summary of a part that was made, and where its run ends: it begins behind the summary from which it goes on, or where the path does. */
export interface MadeSummary {
  readonly summary: NodeId;
  readonly continues: NodeId | null;
  readonly parent: NodeId;
}

/** A path as requests hold it: each run that is summarised as its summary. A run that is not whole on the path stays as it is. */
export function summarised(
  path: readonly NodeRecord[],
  segments: readonly SummarySegment[],
  nodeOf: (nodeId: NodeId) => NodeRecord | undefined,
): readonly NodeRecord[] {
  const shown: NodeRecord[] = [];
  let next = 0;
  for (const { summary, first, last } of runsOn(path, segments)) {
    const node = nodeOf(summary);
    if (!node) throw new Error(`The summary ${summary} stands for a run of the path and was not read.`);
    shown.push(...path.slice(next, first), node);
    next = last + 1;
  }
  return next === 0 ? path : [...shown, ...path.slice(next)];
}

/** Which nodes of a path are summarised: requests hold nothing of them. */
export function coveredOn(
  path: readonly { readonly nodeId: NodeId }[],
  segments: readonly SummarySegment[],
): ReadonlySet<NodeId> {
  const covered = runsOn(path, segments).flatMap(({ first, last }) => path.slice(first, last + 1));
  return new Set(covered.map(({ nodeId }) => nodeId));
}

/** Summaries that are there and of which no request on this path has made use, in order: each goes on from the one before. */
export function unusedSegments(
  { nodes }: Pick<ActiveConversation, 'nodes'>,
  path: readonly PathStep[],
  used: readonly SummarySegment[],
): readonly SummarySegment[] {
  const made: (MadeSummary & { readonly requestedAt: number })[] = [];
  for (const [summary, node] of nodes)
    if (node.kind === 'summary' && node.segment && node.status === 'succeeded')
      made.push({ summary, continues: node.continues ?? null, parent: node.parent, requestedAt: node.requestedAt });
  made.sort((a, b) => a.requestedAt - b.requestedAt);
  const found: SummarySegment[] = [];
  for (;;) {
    const next = nextSegment(path, made, [...used, ...found]);
    if (!next) return found;
    found.push(next);
  }
}

/** A node of a path, and what it stands under. */
export type PathStep = Pick<NodeRecord, 'nodeId' | 'kind' | 'parent'>;

/**
 * The summary that goes on from the last one that stands on a path, and reaches no farther than `upTo`. `made`: in the order in which they were asked
 * for; where two were made of one run the older counts, whoever looks. None reaches across a compaction that was expanded: the one that was
 * made behind it says nothing of what the compaction stands for.
 */
export function nextSegment(
  path: readonly PathStep[],
  made: readonly MadeSummary[],
  used: readonly SummarySegment[],
  upTo?: NodeId,
): SummarySegment | undefined {
  if (made.length === 0) return undefined;
  const places = placesOn(path);
  const before = runsOn(path, used, places).at(-1);
  // What a compaction stands for is not summarised again.
  const start = before ? before.last + 1 : path[0]?.kind === 'compaction' ? 1 : 0;
  const from = path[start]?.nodeId;
  if (from === undefined) return undefined;
  const most = upTo === undefined ? path.length : (places.get(upTo) ?? -1);
  const next = made.find(({ continues, parent }) => {
    const end = places.get(parent) ?? -1;
    return continues === (before?.summary ?? null) && end >= start && end <= most && isUnbroken(path, start, end);
  });
  return next && { summary: next.summary, from, to: next.parent };
}

/** Whether each node of a run stands under the one before it. */
const isUnbroken = (path: readonly PathStep[], first: number, last: number): boolean =>
  path.slice(first, last).every(({ nodeId }, at) => path[first + at + 1]?.parent === nodeId);

/** A run, by the places of its ends on a path. */
interface Run {
  readonly summary: NodeId;
  readonly first: number;
  readonly last: number;
}

/** The runs that are whole on a path, in its order, each behind the one before. */
function runsOn(
  path: readonly { readonly nodeId: NodeId }[],
  segments: readonly SummarySegment[],
  places = segments.length > 0 ? placesOn(path) : NOWHERE,
): readonly Run[] {
  const runs: Run[] = [];
  for (const { summary, from, to } of segments) {
    const [first, last] = [places.get(from), places.get(to)];
    const next = (runs.at(-1)?.last ?? -1) + 1;
    if (first !== undefined && last !== undefined && first >= next && last >= first)
      runs.push({ summary, first, last });
  }
  return runs;
}

const NOWHERE: ReadonlyMap<NodeId, number> = new Map();

const placesOn = (path: readonly { readonly nodeId: NodeId }[]): ReadonlyMap<NodeId, number> =>
  new Map(path.map(({ nodeId }, at) => [nodeId, at]));
