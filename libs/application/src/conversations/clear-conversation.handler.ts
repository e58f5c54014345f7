import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { conversationKeyId } from '@palimpsest/event-store';
import { answer, type Answer, refused } from '../refusal';
import { commandKey } from '../system/command-keys';
import { ownConversation } from '../system/guard';
import { refusalOf } from '../system/refusals';
import { System } from '../system/system';
import type { ClearedView } from '../views';
import { ClearConversation } from './clear-conversation.command';

@CommandHandler(ClearConversation)
export class ClearConversationHandler implements ICommandHandler<ClearConversation> {
  constructor(private readonly system: System) {}

  async execute({ caller, idempotency, conversationId: id }: ClearConversation): Promise<Answer<ClearedView>> {
    const { keys, engine, log } = this.system;
    return ownConversation(this.system, caller, id, async (conversation) => {
      const { conversationId } = conversation;
      const key = commandKey(await keys.open(conversationKeyId(conversationId)), caller, idempotency);
      const context = { actor: caller.actor, correlationId: this.system.newId() };
      const result = await engine.write(conversation, { type: 'ClearConversation', key }, context);
      if (!result.ok) return refusalOf(result.refusal);
      const { state, revision, position } = result;
      if (!result.known)
        return answer({ conversationId, head: null, epoch: 'epoch' in state ? state.epoch : 0, revision, position });
      const [cleared] = await log.at(conversationId, [result.known.revision]);
      if (cleared?.type !== 'ConversationCleared')
        return refused('idempotency_conflict', 'This Idempotency-Key was used with another body.');
      const { data, revision: then, position: there } = cleared;
      return answer({ conversationId, head: null, epoch: data.epoch, revision: then, position: there });
    });
  }
}
