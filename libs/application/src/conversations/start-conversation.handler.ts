import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { answer, type Answer, refused } from '../refusal';
import { commandKey, createdId } from '../system/command-keys';
import { guarded } from '../system/guard';
import { System } from '../system/system';
import type { ConversationView } from '../views';
import { StartConversation } from './start-conversation.command';
import { startedView } from './started-view';
import { subjectOf } from './subject-of';
import { validate as isUuid } from 'uuid';

@CommandHandler(StartConversation)
export class StartConversationHandler implements ICommandHandler<StartConversation> {
  constructor(private readonly system: System) {}

  async execute({ caller, idempotency, assistantId, options }: StartConversation): Promise<Answer<ConversationView>> {
    return guarded(async () => {
      const { system } = this;
      const conversationId = createdId(caller, idempotency);
      const known = await system.identities.find(conversationId);
      const assistant = await this.assistant(assistantId, options.version);
      if (assistant?.tenantId !== caller.tenantId)
        return options.version === undefined
          ? refused('not_found', 'There is no such assistant.')
          : refused('not_found', `There is no version ${options.version} of such an assistant.`);
      // A retry finds the subject that the first try named, an anonymous one too.
      const subjectId = known?.subjectId ?? subjectOf(system, caller.tenantId, conversationId, options.subjectId);
      const keys = await system.keys.forConversation(conversationId, subjectId);
      const { zone = assistant.definition.zone, whenBusy = 'refuse' } = options;
      const result = await system.writer.handle(
        { conversationId, tenantId: caller.tenantId },
        {
          type: 'StartConversation',
          ...{ assistantId: assistant.definition.assistantId, assistantVersion: assistant.definition.version },
          ...{ subjectId, zone, whenBusy, key: commandKey(keys, caller, idempotency) },
        },
        { actor: caller.actor, correlationId: conversationId },
      );
      if (!result.ok) return refused('idempotency_conflict', 'This Idempotency-Key was used with another body.');
      return answer(await startedView(this.system, conversationId));
    });
  }

  private async assistant(assistantId: string, version?: number) {
    if (!isUuid(assistantId)) return undefined;
    const id = assistantId.toLowerCase();
    return version === undefined ? this.system.assistants.newest(id) : this.system.assistants.find(id, version);
  }
}
