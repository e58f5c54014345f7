import { type NodeRecord, type PathFold, summarised, type SummarySegment, unusedSegments } from '@palimpsest/context';
import type { ActiveConversation, NodeId, RequestedNode } from '@palimpsest/conversation';
import { type HeldPaths, type Paths, pathTo } from './paths';

/** Which runs of a path a request holds as their summaries. */
export interface SegmentChoice {
  readonly segments: readonly SummarySegment[];
  /** Those of `segments` that no request held before. */
  readonly fresh: readonly SummarySegment[];
  /** A summary that stands for all up to its parent. */
  readonly instead?: NodeId;
}

/** Paths as requests hold them: runs as their summaries. */
export class SummarisedPaths {
  constructor(private readonly paths: Pick<Paths, 'reach' | 'readSummaries' | 'complete'>) {}

  /** The nodes whose texts a request holds, all of them read. */
  async shown(
    held: HeldPaths,
    fold: PathFold,
    path: readonly NodeRecord[],
    choice: Omit<SegmentChoice, 'fresh'>,
  ): Promise<readonly NodeRecord[]> {
    const shown = await this.nodes(held, fold, path, choice);
    return (await this.paths.complete(held, shown)) ? shown.map((node) => fold.node(node.nodeId) ?? node) : shown;
  }

  private async nodes(
    held: HeldPaths,
    fold: PathFold,
    path: readonly NodeRecord[],
    { segments, instead }: Omit<SegmentChoice, 'fresh'>,
  ): Promise<readonly NodeRecord[]> {
    const summaries = segments.map(({ summary }) => summary).filter((id) => !fold.node(id));
    await this.paths.readSummaries(held, summaries);
    const nodeOf = (nodeId: NodeId) => fold.node(nodeId);
    if (instead === undefined) return summarised(path, segments, nodeOf);
    const node = await this.read(held, fold, instead);
    const covered = path.findIndex(({ nodeId }) => nodeId === node.parent);
    if (covered < 0) throw new Error(`The summary ${instead} is to be gone on from, and is not of this path.`);
    return [node, ...summarised(path.slice(covered + 1), segments, nodeOf)];
  }

  /**
   * The choice to be taken first in front; another where that does not fit. What was not used before is used from a turn's first request on,
   * and in the middle of one only where it must be.
   */
  async choices(
    place: RequestedNode,
    state: ActiveConversation,
    fold: PathFold,
    path: readonly NodeRecord[],
    held: HeldPaths,
  ): Promise<readonly [SegmentChoice, ...SegmentChoice[]]> {
    const used: SegmentChoice = { segments: fold.segmentsOn(path), fresh: [] };
    const { continues } = place.kind === 'compaction' || place.kind === 'summary' ? place : {};
    switch (place.kind) {
      case 'turn': {
        const fresh = unusedSegments(state, path, used.segments);
        const all = { segments: [...used.segments, ...fresh], fresh };
        return fresh.length === 0 ? [used] : place.round === 1 ? [all] : [used, all];
      }
      case 'transform':
        // A draft is made of the whole context, as long as that fits.
        return used.segments.length ? [{ segments: [], fresh: [] }, used] : [used];
      case 'summary': {
        if (place.segment) return [{ segments: await this.before(held, fold, path, continues), fresh: [] }];
        // What requests behind its run hold as summaries, it need not read again.
        await this.paths.reach(held, state.head);
        const whole = pathTo(held.fold, state.head);
        return [
          { segments: fold.segmentsOn(whole), fresh: [], ...(continues !== undefined && { instead: continues }) },
        ];
      }
      default:
        return [continues === undefined ? used : { ...used, instead: continues }];
    }
  }

  /** The segments up to this one, which go on from each other. */
  private async before(
    held: HeldPaths,
    fold: PathFold,
    path: readonly NodeRecord[],
    last: NodeId | undefined,
  ): Promise<readonly SummarySegment[]> {
    const chain: NodeRecord[] = [];
    for (let id = last ?? null; id !== null; id = chain[0]?.continues ?? null)
      chain.unshift(await this.read(held, fold, id));
    let next = path[0]?.kind === 'compaction' ? 1 : 0;
    return chain.flatMap(({ nodeId: summary, parent }) => {
      const [from, end] = [path[next]?.nodeId, path.findIndex(({ nodeId }) => nodeId === parent)];
      // Its model reads the compaction that stands for the run.
      if (from === undefined || parent === null || end < next) return [];
      next = end + 1;
      return [{ summary, from, to: parent }];
    });
  }

  private async read(held: HeldPaths, fold: PathFold, nodeId: NodeId): Promise<NodeRecord> {
    if (!fold.node(nodeId)) await this.paths.reach(held, nodeId);
    const node = fold.node(nodeId);
    if (!node) throw new Error(`The summary ${nodeId} is named and was not read.`);
    return node;
  }
}
