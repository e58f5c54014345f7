import type { NodeRecord, RenderedRequest, Segment, TokenCounter } from '@palimpsest/context';
import type { NodeId } from '@palimpsest/conversation';

/** The nodes of one turn on a path, as a request holds them. */
export interface MeasuredTurn {
  readonly lastNode: NodeId;
  readonly tokens: number;
}

/** What a path's request holds, in tokens, about. */
export interface MeasuredPath {
  /** System prompt, tools and the frame: they are in every request. */
  readonly fixed: number;
  /** In order. */
  readonly turns: readonly MeasuredTurn[];
}

/**
 * Where a path is cut so that each run of whole turns fits into a request of `room` tokens: the last node of each run but the last one. A run
 * behind the first begins with a summary of at most `summary` tokens. A turn that is larger than all that stands alone: its call may fail.
 */
export function cutIntoRuns(
  { fixed, turns }: MeasuredPath,
  { room, summary }: { readonly room: number; readonly summary: number },
): readonly NodeId[] {
  const cuts: NodeId[] = [];
  let before: MeasuredTurn | undefined;
  let sum = fixed;
  for (const turn of turns) {
    if (before && sum + turn.tokens > room) {
      cuts.push(before.lastNode);
      sum = fixed + summary;
    }
    sum += turn.tokens;
    before = turn;
  }
  return cuts;
}

/** What each turn of a path adds to a request: its nodes' messages. What belongs to no node is in every request. */
export function measurePath(
  request: RenderedRequest,
  path: readonly NodeRecord[],
  counter: TokenCounter,
): MeasuredPath {
  const tokensOf = (segment: Segment): number => counter.request({ head: segment, messages: [], tail: [] });
  const byNode = new Map<NodeId | null, number>();
  for (const segment of [request.head, ...request.messages, request.tail]) {
    const owner = segment.find(({ nodeId }) => nodeId !== null)?.nodeId ?? null;
    byNode.set(owner, (byNode.get(owner) ?? 0) + tokensOf(segment));
  }
  const turns: { turnId: string | null; lastNode: NodeId; tokens: number }[] = [];
  for (const { nodeId, turnId, kind, parent } of path) {
    const tokens = byNode.get(nodeId) ?? 0;
    // A summary ends where the run ends that it stands for.
    const lastNode = kind === 'summary' ? (parent ?? nodeId) : nodeId;
    const last = turns.at(-1);
    if (last && turnId !== null && last.turnId === turnId)
      Object.assign(last, { lastNode, tokens: last.tokens + tokens });
    else turns.push({ turnId, lastNode, tokens });
  }
  return { fixed: byNode.get(null) ?? 0, turns };
}
