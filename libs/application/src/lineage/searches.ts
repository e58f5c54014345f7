import { placeOf, type Search } from '@palimpsest/audit';
import type { NodeRow, ToolCallRow } from '@palimpsest/read-models';
import type { ShownStatements } from './shown-statements';

type Node = Pick<NodeRow, 'node_id' | 'conversation_id' | 'kind' | 'parent' | 'requested_revision' | 'ended_revision'>;

/** A summary stands in requests below the last node that it covers, and nothing grows from it itself. */
const anchorOf = ({ node_id, conversation_id: conversationId, kind, parent, requested_revision: revision }: Node) =>
  kind === 'summary' ? { conversationId, nodeId: parent, revision: 0n } : { conversationId, nodeId: node_id, revision };

/** What a node sent and received: as messages, as values in a state block, as the summary that it made. */
export function searchForNode(node: Node): Search {
  const { node_id: nodeId } = node;
  return {
    anchor: anchorOf(node),
    except: nodeId,
    sought: (folds) => (origin, owner) => {
      if (origin.nodeId !== nodeId) return undefined;
      // In its own block the stretches that are no value are its own, too.
      if (origin.kind === 'state') return owner.nodeId === nodeId ? undefined : 'state';
      return folds.has(origin.place ?? '') ? 'folded' : 'verbatim';
    },
  };
}

/** What a node received, and nothing that it sent. */
export function searchForAnswer(node: Node): Search {
  const place = node.ended_revision === null ? undefined : placeOf(node.conversation_id, node.ended_revision);
  return {
    anchor: anchorOf(node),
    sought: () => (origin) => (place !== undefined && origin.place === place ? 'verbatim' : undefined),
  };
}

/** The result of a tool call, whole or as the line that stands in for it. */
export function searchForResult(node: Node, { tool_call_id, conversation_id, executed_revision }: ToolCallRow): Search {
  const place = executed_revision === null ? undefined : placeOf(conversation_id, executed_revision);
  return {
    anchor: anchorOf(node),
    sought: (folds) => (origin) => {
      if (origin.place === undefined) return undefined;
      if (origin.place === place) return 'verbatim';
      return folds.get(origin.place) === tool_call_id ? 'folded' : undefined;
    },
  };
}

/** A value, where a state block shows it: as the one that holds, or beside the one that superseded it. */
export function searchForStatement(
  statement: { readonly conversationId: string; readonly revision: bigint; readonly nodeId: string | null },
  node: Node | undefined,
  shown: ShownStatements,
): Search {
  const { conversationId, nodeId } = statement;
  const place = placeOf(conversationId, statement.revision);
  // A conversation that grows from another may say something of the node that it grows from; it holds in that one alone.
  const isOwn = node?.conversation_id === conversationId;
  const blocks = new Map<string, boolean>();
  return {
    anchor: { conversationId, nodeId, revision: isOwn ? node.requested_revision : 0n },
    async prepare(routings) {
      for (const routing of routings.values())
        if (!blocks.has(routing.nodeId)) blocks.set(routing.nodeId, (await shown.by(routing)).includes(place));
    },
    sought: () => (origin, owner) => (origin.kind === 'state' && blocks.get(owner.nodeId) ? 'state' : undefined),
  };
}
