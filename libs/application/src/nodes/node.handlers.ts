import { NoExactRequest } from '@palimpsest/audit';
import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { treeNodeView } from '../conversations/tree-node-view';
import { answer, type Answer, refused } from '../refusal';
import { System } from '../system/system';
import type { NodeView, ReplayView } from '../views';
import { GetNode, ReplayNode } from './node.queries';
import { openedNode } from './opened-node';
import { ownNode } from './own-node';

/** Refuses where a node was imported. */
export async function ifExact<T>(nodeId: string, work: () => Promise<T>): Promise<Answer<T>> {
  try {
    return answer(await work());
  } catch (error) {
    if (!(error instanceof NoExactRequest)) throw error;
    const detail = 'The node was imported: what it says is known, and the bytes that its model was sent are not.';
    return refused('no_exact_request', detail, { nodeId });
  }
}

@QueryHandler(ReplayNode)
export class ReplayNodeHandler implements IQueryHandler<ReplayNode> {
  constructor(private readonly system: System) {}

  async execute({ caller, nodeId, atLeast }: ReplayNode): Promise<Answer<ReplayView>> {
    return ownNode(this.system, caller, nodeId, atLeast, (node) =>
      ifExact(nodeId, () => this.system.replayer.replay(node.conversation_id, node.node_id, node.requested_revision)),
    );
  }
}

@QueryHandler(GetNode)
export class GetNodeHandler implements IQueryHandler<GetNode> {
  constructor(private readonly system: System) {}

  async execute({ caller, nodeId, atLeast }: GetNode): Promise<Answer<NodeView>> {
    return ownNode(this.system, caller, nodeId, atLeast, async (row) => {
      const { sent, received, record, failure } = await openedNode(this.system, row);
      const { sha256 } = record.request;
      return answer({
        ...treeNodeView(row),
        ...{ conversationId: row.conversation_id, sent, received },
        ...(failure && { failure }),
        ...{ sha256, length: Number(row.length), exact: row.exact },
      });
    });
  }
}
