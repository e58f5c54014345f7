import type { GrownRow, NodeBelow } from '@palimpsest/read-models';
import type { RoutingPlace } from './routing';

/** What grows from what, as the read model has it. */
export interface ForwardTree {
  nodesFrom(conversationId: string, revision: bigint): Promise<readonly NodeBelow[]>;
  grownFrom(conversationId: string): Promise<readonly GrownRow[]>;
  folds(
    conversationIds: readonly string[],
  ): Promise<readonly { readonly conversation_id: string; readonly tool_call_id: string; readonly revision: bigint }[]>;
}

/** Of a node, or of a root (`nodeId` null): from where on it can be held. */
export interface Anchor {
  readonly conversationId: string;
  readonly nodeId: string | null;
  /** What was requested before it is not below it. */
  readonly revision: bigint;
}

/** Where a list goes on: behind this node. */
export interface After {
  readonly startedPosition: bigint;
  readonly revision: bigint;
}

/**
 * A node and all that grows from it, through the conversations that do: no request outside of it can hold what is said there (invariant 6).
 * Conversations in the order in which they began, nodes in the order of their stream, so each stands behind what it grows from.
 */
export class Below {
  readonly nodes: NodeBelow[] = [];
  private readonly known = new Map<string, NodeBelow>();
  private readonly current = new Set<string>();

  private readonly positions: ReadonlyMap<string, bigint>;

  private constructor(readonly conversations: readonly GrownRow[]) {
    this.positions = new Map(conversations.map((row) => [row.conversation_id, row.started_position]));
  }

  /** `conversations`: that of the anchor, and all that grow from it. */
  static async of(tree: ForwardTree, anchor: Anchor, conversations: readonly GrownRow[]): Promise<Below> {
    const below = new Below(conversations);
    for (const row of conversations) {
      const isOwn = row.conversation_id === anchor.conversationId;
      if (!isOwn && (row.source_node_id === null || !below.reaches(row.source_node_id, anchor))) continue;
      const nodes = await tree.nodesFrom(row.conversation_id, isOwn ? anchor.revision : 0n);
      const isWhole = isOwn && isBefore(anchor, row, nodes);
      for (const node of nodes)
        if (isWhole || node.node_id === anchor.nodeId || below.reaches(node.before, anchor)) below.put(node);
      below.markCurrent(row);
    }
    return below;
  }

  get(nodeId: string): NodeBelow | undefined {
    return this.known.get(nodeId);
  }

  /** Whether it is on the branch that its conversation's head stands on. */
  isCurrent(nodeId: string): boolean {
    return this.current.has(nodeId);
  }

  /** The nodes behind a place in the list. */
  following(after: After | undefined): readonly NodeBelow[] {
    if (!after) return this.nodes;
    const { startedPosition, revision } = after;
    return this.nodes.filter((node) => {
      const at = this.placeOf(node);
      return at.startedPosition === startedPosition ? at.revision > revision : at.startedPosition > startedPosition;
    });
  }

  placeOf({ conversation_id, requested_revision: revision }: NodeBelow): After {
    return { startedPosition: this.positions.get(conversation_id) ?? -1n, revision };
  }

  /** These nodes, and those whose requests theirs may copy from: up to the anchor, or to the nearest compaction. */
  withAncestors(nodeIds: Iterable<string>): ReadonlyMap<string, RoutingPlace> {
    const found = new Map<string, RoutingPlace>();
    const add = ({ node_id: nodeId, conversation_id: conversationId, requested_revision: revision }: NodeBelow) =>
      found.set(nodeId, { nodeId, conversationId, revision });
    for (const nodeId of nodeIds) {
      let node = this.get(nodeId);
      if (node) add(node);
      for (node = this.get(node?.before ?? ''); node && !found.has(node.node_id); node = this.get(node.before ?? '')) {
        add(node);
        if (node.kind === 'compaction') break;
      }
    }
    return found;
  }

  private put(node: NodeBelow): void {
    this.nodes.push(node);
    this.known.set(node.node_id, node);
  }

  private reaches(before: string | null, { nodeId }: Anchor): boolean {
    return before !== null && (before === nodeId || this.known.has(before));
  }

  private markCurrent({ conversation_id, head }: GrownRow): void {
    let node = this.get(head ?? '');
    for (; node?.conversation_id === conversation_id; node = this.get(node.before ?? ''))
      this.current.add(node.node_id);
  }
}

/** All of a conversation is below its root, and below what stands before the node that it grows from. */
const isBefore = ({ nodeId }: Anchor, { source_node_id }: GrownRow, nodes: readonly NodeBelow[]): boolean =>
  nodeId === null || (nodeId !== source_node_id && nodes.every(({ node_id }) => node_id !== nodeId));
