import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import type { ConversationRow, NodeRow } from '@palimpsest/read-models';
import { nodesSeenFrom } from '../conversations/nodes-seen';
import { type ConversationDocument, DOCUMENT_FORMAT } from '../imports/document';
import { answer, type Answer, refused } from '../refusal';
import { ownConversation, upTo } from '../system/guard';
import { System } from '../system/system';
import { documentNodes } from './document-nodes';
import { type DocumentText, ExportConversation } from './export-conversation.query';

@QueryHandler(ExportConversation)
export class ExportConversationHandler implements IQueryHandler<ExportConversation> {
  constructor(private readonly system: System) {}

  async execute({ caller, conversationId, what, atLeast }: ExportConversation): Promise<Answer<DocumentText>> {
    return ownConversation(this.system, caller, conversationId, ({ conversationId: id }) =>
      upTo(this.system, id, atLeast.minRevision, async () => {
        const row = await this.system.tree.conversation(id);
        if (!row) throw new Error(`Conversation ${id} has left the read model.`);
        const seen = await nodesSeenFrom(this.system.tree, row);
        if (what === 'all') return answer(this.text(row, seen, row.head, row.epoch));
        const end = what === 'head' ? row.head : what.nodeId;
        if (end === null) return answer(this.text(row, [], null, 0));
        const path = pathTo(seen, end);
        if (!path.length) return refused('not_found', 'There is no such node in this conversation.');
        return answer(this.text(row, path, end, 0));
      }),
    );
  }

  private async *text(
    row: ConversationRow,
    nodes: readonly NodeRow[],
    head: string | null,
    epoch: number,
  ): DocumentText {
    const { source_conversation_id: conversationId, source_node_id: nodeId } = row;
    const conversation: ConversationDocument['conversation'] = {
      id: row.conversation_id,
      assistant: { id: row.assistant_id, version: row.assistant_version },
      zone: row.zone,
      head,
      ...(epoch > 0 && { epoch }),
      ...(conversationId !== null && nodeId !== null && { source: { conversationId, nodeId } }),
      startedAt: row.started_at.toISOString(),
    };
    const start = JSON.stringify({ format: DOCUMENT_FORMAT, version: 1, conversation });
    let separator = `${start.slice(0, -1)},"nodes":[\n`;
    for await (const node of documentNodes(this.system, nodes)) {
      yield separator + JSON.stringify(node);
      separator = ',\n';
    }
    yield nodes.length ? '\n]}\n' : `${separator}]}\n`;
  }
}

/** Root first; a path lies in one epoch, and as a document of its own it is the first. Nothing where the node is not seen. */
function pathTo(nodes: readonly NodeRow[], end: string): readonly NodeRow[] {
  const byId = new Map(nodes.map((node) => [node.node_id, node]));
  const path: NodeRow[] = [];
  for (let node = byId.get(end); node; node = byId.get(node.parent ?? node.origin ?? ''))
    path.push({ ...node, epoch: 0 });
  return path.reverse();
}
