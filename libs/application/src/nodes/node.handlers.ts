import { NoExactRequest, ReplayBroken } from '@palimpsest/audit';
import { PathFold, type PathNode } from '@palimpsest/context';
import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { itemsOfResponse } from '@palimpsest/providers';
import { type ConversationRecord, eventsOfNodes } from '@palimpsest/read-models';
import { treeNodeView } from '../conversations/tree-node-view';
import { answer, type Answer, refused } from '../refusal';
import { System } from '../system/system';
import type { ItemView, NodeView, ReplayView } from '../views';
import { GetNode, ReplayNode } from './node.queries';
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
      const { path } = await this.system.tree.path(row.conversation_id, nodeId);
      const fold = new PathFold(itemsOfResponse);
      const events: ConversationRecord[] = [];
      for (const { conversationId, revisions } of eventsOfNodes(path.slice(-2)))
        events.push(...(await this.system.log.at(conversationId, revisions)));
      for (const event of events) fold.put(event);
      const failed = events.find((event) => event.type === 'CallFailed' && event.data.nodeId === nodeId);
      const record = fold.node(nodeId);
      const before = record?.parent ?? record?.origin;
      const parent = before ? fold.node(before) : undefined;
      if (!record) throw new ReplayBroken(`Node ${nodeId} is not where the tree says that it stands.`);
      const { sha256 } = record.request;
      return answer({
        ...treeNodeView(row),
        conversationId: row.conversation_id,
        sent: sentItems(fold.sentBy(record, parent)),
        received: (record.received?.items ?? []).map((item): ItemView => {
          if (item.type !== 'tool_call') return { type: item.type, text: item.text.text };
          return { type: 'tool_call', toolCallId: item.toolCallId, name: item.name, arguments: item.arguments.text };
        }),
        ...(failed?.type === 'CallFailed' && failed.content ? { failure: failed.content } : {}),
        ...{ sha256, length: Number(row.length), exact: row.exact },
      });
    });
  }
}

function sentItems({ results, question }: Pick<PathNode, 'results' | 'question'>): readonly ItemView[] {
  const items: ItemView[] = results.map(({ toolCallId, result, isError, folded, synthetic }) => ({
    ...{ type: 'tool_result', toolCallId, text: result.text, isError },
    ...(folded === undefined ? {} : { folded }),
    ...(synthetic === undefined ? {} : { synthetic }),
  }));
  return question ? [...items, { type: 'user', text: question.text }] : items;
}
