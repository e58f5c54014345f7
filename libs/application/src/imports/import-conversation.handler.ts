import { createHash } from 'node:crypto';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { canonical } from '@palimpsest/event-store';
import { derivedId } from '@palimpsest/platform';
import { validate as isUuid } from 'uuid';
import { startedView } from '../conversations/started-view';
import { subjectOf } from '../conversations/subject-of';
import { answer, type Answer, refused } from '../refusal';
import { guarded } from '../system/guard';
import { refusalOf } from '../system/refusals';
import { System } from '../system/system';
import type { ConversationDocument } from './document';
import { ImportConversation, type ImportedView } from './import-conversation.command';
import { planImport } from './plan-import';
import { readDocument } from './read-document';

@CommandHandler(ImportConversation)
export class ImportConversationHandler implements ICommandHandler<ImportConversation> {
  constructor(private readonly system: System) {}

  async execute(command: ImportConversation): Promise<Answer<ImportedView>> {
    const read = readDocument(command.document);
    if ('fault' in read) {
      const { detail, ...fault } = read.fault;
      return refused('validation_failed', detail, { ...fault });
    }
    return guarded(() => this.import(command, read.document));
  }

  private async import(
    { caller, assistantId, document: given, subjectId: person }: ImportConversation,
    document: ConversationDocument,
  ): Promise<Answer<ImportedView>> {
    const { system } = this;
    const { tenantId, actor } = caller;
    // Salted, since the id stands in the clear and must not prove what the document says.
    const digest = createHash('sha256').update(canonical(given)).digest('hex');
    const conversationId = derivedId('import', tenantId, system.subjectSalt, assistantId, person ?? '', digest);
    const known = await system.identities.find(conversationId);
    // The version that the import began with: what broke off goes on with the same events.
    const assistant = !isUuid(assistantId)
      ? undefined
      : known
        ? await system.assistants.find(known.assistantId, known.assistantVersion)
        : await system.assistants.newest(assistantId.toLowerCase());
    if (assistant?.tenantId !== tenantId) return refused('not_found', 'There is no such assistant.');
    const { definition } = assistant;
    const subjectId = known?.subjectId ?? subjectOf(system, tenantId, conversationId, person);
    const keys = await system.keys.forConversation(conversationId, subjectId);
    const { events, head } = planImport(document, {
      start: {
        ...{ assistantId: definition.assistantId, assistantVersion: definition.version, subjectId },
        zone: document.conversation.zone ?? definition.zone,
      },
      idFor: (what, id) => derivedId('imported', conversationId, what, id),
      argumentsDigest: (raw) => keys.digest('arguments', raw),
      tools: new Set(definition.tools.map(({ name }) => name)),
    });
    const occurredAt = system.now().toISOString();
    const context = { tenantId, actor, correlationId: conversationId, causationId: null, occurredAt };
    const { result, created } = await system.imports.handle(conversationId, events, context);
    if (!result.ok) return refusalOf(result.refusal);
    const [last] = await system.log.at(conversationId, [BigInt(events.length - 1)]);
    if (last?.type !== 'ConversationImported') throw new Error(`The import of ${conversationId} is not whole.`);
    const { revision, position } = last;
    return answer({ ...(await startedView(system, conversationId)), head, revision, position, created });
  }
}
