import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { ConversationSource } from '@palimpsest/conversation';
import { derivedId } from '@palimpsest/platform';
import type { ConversationIdentity } from '@palimpsest/turns';
import { startedView } from '../conversations/started-view';
import { answer, type Answer } from '../refusal';
import { commandKey } from '../system/command-keys';
import { ownConversation } from '../system/guard';
import { refusalOf } from '../system/refusals';
import { System } from '../system/system';
import type { ConversationView } from '../views';
import { ownPlaybook, type StoredPlaybook } from './own-playbook';
import { OpenEditConversation } from './playbook.commands';

type Opened = ConversationView & { readonly created: boolean };

@CommandHandler(OpenEditConversation)
export class OpenEditConversationHandler implements ICommandHandler<OpenEditConversation> {
  constructor(private readonly system: System) {}

  async execute(command: OpenEditConversation): Promise<Answer<Opened>> {
    const { caller, playbookId } = command;
    return ownPlaybook(this.system, caller, playbookId, async (playbook) =>
      ownConversation(this.system, caller, playbook.created.source.conversationId, async (source) =>
        this.open(command, playbook, source),
      ),
    );
  }

  /** The source records it first: so whoever deletes the source knows of it, whether it has begun or not. */
  private async open(
    { caller, idempotency }: OpenEditConversation,
    { playbookId, created }: StoredPlaybook,
    source: ConversationIdentity,
  ): Promise<Answer<Opened>> {
    const { system } = this;
    const conversationId = derivedId('edit-conversation', caller.tenantId, playbookId);
    const { nodeId } = created.source;
    const context = { actor: caller.actor, correlationId: conversationId };
    const attach = { type: 'AttachDependent', conversationId, nodeId } as const;
    const attached = await system.engine.write(source, attach, context);
    if (!attached.ok) return refusalOf(attached.refusal);

    const keys = await system.keys.forConversation(conversationId, source.subjectId);
    const place: ConversationSource = {
      ...{ conversationId: source.conversationId, nodeId, revision: Number(attached.revision) },
    };
    const started = await system.writer.handle(
      { conversationId, tenantId: caller.tenantId },
      {
        type: 'StartConversation',
        ...{ assistantId: created.assistantId, assistantVersion: created.assistantVersion },
        ...{ subjectId: source.subjectId, zone: source.zone, whenBusy: 'refuse', source: place },
        key: commandKey(keys, caller, idempotency),
      },
      context,
    );
    if (!started.ok) return refusalOf(started.refusal);
    const isNew = started.events.length > 0 || started.known !== undefined;
    return answer({ ...(await startedView(system, conversationId)), created: isNew });
  }
}
