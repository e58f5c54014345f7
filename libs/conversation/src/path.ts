import type { NodeId, ToolCallId } from './events';
import { type ActiveConversation, isSource, nodeOf } from './state';

/**
 * From a node to the true root; `origin` counts as an edge. Where the conversation grows from another, the node there is the last one: what
 * is before it is that one's, and never changes.
 */
export function* lineage(state: ActiveConversation, from: NodeId | null): Iterable<NodeId> {
  for (let id = from; id !== null;) {
    yield id;
    if (isSource(state, id)) return;
    const node = nodeOf(state, id);
    id = node.kind === 'compaction' ? node.origin : node.parent;
  }
}

/** The calls without a result on the way from a node to the root. */
export function openCallsOnPath(state: ActiveConversation, from: NodeId | null): ToolCallId[] {
  if (state.openCalls.length === 0) return [];
  const open = new Map(state.openCalls.map((id) => [id, state.toolCalls.get(id)?.nodeId] as const));
  // A parent was requested before its child: beyond the oldest node with an open call there is nothing to find.
  const oldest = Math.min(...[...open.values()].map((id) => (id === undefined ? 0 : nodeOf(state, id).requestedAt)));
  const path = new Set<NodeId | undefined>();
  for (const id of lineage(state, from)) {
    if (isSource(state, id) || nodeOf(state, id).requestedAt < oldest) break;
    path.add(id);
  }
  return state.openCalls.filter((id) => path.has(open.get(id)));
}

/** Of a node and its descendants the one that was the head most recently; undefined where none ever was. */
export function lastHeadUnder(state: ActiveConversation, root: NodeId): NodeId | undefined {
  const under = new Map<NodeId, boolean>([[root, true]]);
  const { source } = state;
  let [found, foundAt]: [NodeId | undefined, number] = [undefined, -1];
  if (source?.nodeId === root) [found, foundAt] = [root, source.headAt];
  for (const [id, node] of state.nodes) {
    if (node.headAt === null || node.headAt <= foundAt || !descends(state, id, under)) continue;
    found = id;
    foundAt = node.headAt;
  }
  return found;
}

/** Remembers in `under` what it learns, so that all the nodes of a tree together cost one walk over it. */
function descends(state: ActiveConversation, from: NodeId, under: Map<NodeId, boolean>): boolean {
  const walked: NodeId[] = [];
  let answer = false;
  for (const id of lineage(state, from)) {
    const known = under.get(id);
    if (known !== undefined) {
      answer = known;
      break;
    }
    walked.push(id);
  }
  for (const id of walked) under.set(id, answer);
  return answer;
}
