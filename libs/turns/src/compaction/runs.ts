import type { NodeRecord, RenderedRequest, Segment, TokenCounter } from '@palimpsest/context';
import type { NodeId, TurnId } from '@palimpsest/conversation';

/** The nodes of one turn on a path, as a request holds them; or what stands for earlier turns. */
export interface MeasuredTurn {
  /** Of a summary: the last one that it stands for. */
  readonly lastNode: NodeId;
  readonly tokens: number;
}

/** What is known of a turn besides. */
export interface PathTurn extends MeasuredTurn {
  /** What stands for earlier turns: a compaction, or a summary of some. */
  readonly standsFor?: { readonly kind: 'compaction' | 'summary'; readonly nodeId: NodeId };
  /** Its question and its final answer, where it has them. */
  readonly messages: number;
  /** No call of it has a result that a later node sends. */
  readonly whole: boolean;
  /** Between it and the turn before stands a compaction that was expanded: no summary reaches across. */
  readonly apart?: true;
}

/** What a path's request holds, in tokens, about. */
export interface MeasuredPath {
  /** System prompt, tools and the frame: they are in every request. */
  readonly fixed: number;
  /** In order. */
  readonly turns: readonly PathTurn[];
}

/**
 * Where a path is cut so that each run of whole turns fits into a request of `room` tokens: the last node of each run but the last one. A run
 * behind the first begins with a summary of at most `summary` tokens. A turn that is larger than all that stands alone: its call may fail.
 */
export function cutIntoRuns(
  { fixed, turns }: { readonly fixed: number; readonly turns: readonly MeasuredTurn[] },
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
  const turns: GrowingTurn[] = [];
  for (const node of path) {
    const tokens = byNode.get(node.nodeId) ?? 0;
    const last = turns.at(-1);
    const goesOn = last !== undefined && node.turnId !== null && last.turnId === node.turnId;
    const apart = last !== undefined && node.kind !== 'summary' && node.parent !== last.lastNode;
    const begun = { ...NO_TURN, turnId: node.turnId, ...(apart && { apart }) };
    turns.push(withNode(goesOn ? (turns.pop() as GrowingTurn) : begun, node, tokens));
  }
  return { fixed: byNode.get(null) ?? 0, turns };
}

interface GrowingTurn extends PathTurn {
  readonly turnId: TurnId | null;
  readonly questions: number;
}

const NO_TURN = { lastNode: '', tokens: 0, questions: 0, messages: 0, whole: true };

function withNode(turn: GrowingTurn, node: NodeRecord, added: number): GrowingTurn {
  const { nodeId, kind, parent, first, calls, received } = node;
  const tokens = turn.tokens + added;
  if (kind === 'compaction') return { ...turn, tokens, lastNode: nodeId, standsFor: { kind, nodeId } };
  // A summary ends where the run ends that it stands for.
  if (kind === 'summary') return { ...turn, tokens, lastNode: parent ?? nodeId, standsFor: { kind, nodeId } };
  const questions = turn.questions + (first ? 1 : 0);
  const whole = calls.length === 0;
  return { ...turn, tokens, lastNode: nodeId, questions, messages: questions + (whole && received ? 1 : 0), whole };
}
