import { NoExactRequest, ReplayBroken } from '@palimpsest/audit';
import { PathFold, type PathNode } from '@palimpsest/context';
import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { itemsOfResponse } from '@palimpsest/providers';
import { type ConversationRecord, eventsOfPath, type NodeRow } from '@palimpsest/read-models';
import type { Caller } from '../caller/caller';
import { treeNodeView } from '../conversations/tree-node-view';
import { answer, type Answer, refused } from '../refusal';
import type { AtLeast } from '../conversations/conversation.queries';
import { ownConversation, upTo } from '../system/guard';
import { System } from '../system/system';
import { whenKnown } from '../system/when-known';
import type { ItemView, NodeView, ReplayView } from '../views';
import { GetNode, ReplayNode } from './node.queries';

const noSuchNode = refused('not_found', 'There is no such node.');

/** A node of the caller's own; one that the tree does not know yet is waited for until it has reached the log's end as of now. */
async function ownNode<T>(
  system: System,
  caller: Caller,
  nodeId: string,
  { minRevision }: AtLeast,
  work: (node: NodeRow) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const { tree, store, projector, limits } = system;
  const known = await whenKnown(
    async () => tree.node(nodeId),
    async () => store.lastPosition(),
    projector,
    limits.maxWaitMs,
  );
  if (known === 'absent') return noSuchNode;
  if (known === 'late')
    return refused('behind', 'The read model is behind the log, and may not know the node yet. Ask again in a moment.');
  const { conversation_id } = known.found;
  return ownConversation(system, caller, conversation_id, () =>
    upTo(system, conversation_id, minRevision, async () => {
      const node = minRevision === undefined ? known.found : await tree.node(nodeId);
      return node ? work(node) : noSuchNode;
    }),
  );
}

@QueryHandler(ReplayNode)
export class ReplayNodeHandler implements IQueryHandler<ReplayNode> {
  constructor(private readonly system: System) {}

  async execute({ caller, nodeId, atLeast }: ReplayNode): Promise<Answer<ReplayView>> {
    return ownNode(this.system, caller, nodeId, atLeast, async (node) => {
      try {
        return answer(await this.system.replayer.replay(node.conversation_id, node.node_id, node.requested_revision));
      } catch (error) {
        if (!(error instanceof NoExactRequest)) throw error;
        const detail = 'The node was imported: what it says is known, and the bytes that its model was sent are not.';
        return refused('no_exact_request', detail, { nodeId });
      }
    });
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
      for (const { conversationId, revisions } of eventsOfPath(path.slice(-2)))
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
