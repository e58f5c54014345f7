import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { conversationKeyId } from '@palimpsest/event-store';
import type { NodeRow } from '@palimpsest/read-models';
import { answer, type Answer, refused } from '../refusal';
import { commandKey } from '../system/command-keys';
import { ownConversation } from '../system/guard';
import { refusalOf } from '../system/refusals';
import { System } from '../system/system';
import type { TagView } from '../views';
import { itemAt, openedNode } from './opened-node';
import { ownNode } from './own-node';
import { TagItem } from './tag-item.command';

@CommandHandler(TagItem)
export class TagItemHandler implements ICommandHandler<TagItem> {
  constructor(private readonly system: System) {}

  async execute(command: TagItem): Promise<Answer<TagView>> {
    const { caller, nodeId } = command;
    return ownNode(this.system, caller, nodeId, {}, async (row) => this.tag(command, row));
  }

  private async tag({ caller, idempotency, nodeId, item, tag }: TagItem, row: NodeRow): Promise<Answer<TagView>> {
    const { keys, engine, log } = this.system;
    const node = await openedNode(this.system, row);
    if (!itemAt(node, item)) {
      const { length: sent } = node.sent;
      const { length: received } = node.received;
      return refused('validation_failed', `The node has no item ${item}.`, { sent, received });
    }
    return ownConversation(this.system, caller, row.conversation_id, async (conversation) => {
      const { conversationId } = conversation;
      const key = commandKey(await keys.open(conversationKeyId(conversationId)), caller, idempotency);
      const tags = [{ nodeId, item, tag }];
      const context = { actor: caller.actor, correlationId: this.system.newId() };
      const result = await engine.write(conversation, { type: 'TagItems', tags, source: 'user', key }, context);
      if (!result.ok) return refusalOf(result.refusal);
      const [event] = await log.at(conversationId, [result.known?.revision ?? result.revision]);
      if (event?.type !== 'ItemTagged')
        return refused('idempotency_conflict', 'This Idempotency-Key was used with another body.');
      const { revision, position } = event;
      return answer({ nodeId, item, tag, revision, position });
    });
  }
}
