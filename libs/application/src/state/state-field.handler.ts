import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { ActiveConversation, AssertedContent, RetractedContent } from '@palimpsest/conversation';
import { type FieldDefinition, parseValue, stateLimits } from '@palimpsest/dialogue-state';
import { conversationKeyId } from '@palimpsest/event-store';
import type { ConversationIdentity } from '@palimpsest/turns';
import { answer, type Answer, refused } from '../refusal';
import { commandKey } from '../system/command-keys';
import { ownConversation } from '../system/guard';
import { refusalOf } from '../system/refusals';
import { System } from '../system/system';
import type { StatementView } from '../views';
import { fieldIn, schemaAt } from './schema-in-force';
import { type FieldStatement, StateField } from './state.messages';

@CommandHandler(StateField)
export class StateFieldHandler implements ICommandHandler<StateField> {
  constructor(private readonly system: System) {}

  async execute({ caller, idempotency, conversationId: id, statement }: StateField): Promise<Answer<StatementView>> {
    const { keys, engine, statements, writer } = this.system;
    return ownConversation(this.system, caller, id, async (conversation) => {
      const { conversationId, tenantId } = conversation;
      const { state } = await writer.read(conversationId, tenantId);
      if (state.status !== 'active') throw new Error(`Conversation ${conversationId} is ${state.status}.`);
      const field = fieldIn(await schemaAt(this.system, conversation, state, nodeInForce(state)), statement.field);
      if (!field.ok) return field;
      const content = this.contentOf(statement, field.value, conversation);
      if (!content.ok) return content;
      const key = commandKey(await keys.open(conversationKeyId(conversationId)), caller, idempotency);
      const sentence = { by: 'client', content: content.value } as const;
      const said = { statement: await statements.routing(conversationId, field.value, sentence), key };
      const context = { actor: caller.actor, correlationId: this.system.newId() };
      const result = await engine.write(
        conversation,
        'value' in content.value && !statement.retract
          ? { type: 'AssertState', ...said, content: content.value as AssertedContent }
          : { type: 'RetractState', ...said, content: content.value },
        context,
      );
      if (!result.ok) return refusalOf(result.refusal);
      const view = await this.view(conversationId, result.known?.revision ?? result.revision);
      if (!view.ok || !view.value.retracted) return view;
      const { nodeId, revision } = view.value;
      // As of then, whatever has happened since: one key has one answer.
      const states = result.known ? this.system.states.asItWas() : this.system.states;
      const ended = await states.endedBy({ conversationId, nodeId, revision }, field.value.name);
      return answer({ ...view.value, ended });
    });
  }

  private contentOf(
    { value, key, retract }: FieldStatement,
    field: FieldDefinition,
    { zone }: ConversationIdentity,
  ): Answer<RetractedContent> {
    if (key !== undefined && field.cardinality === 'one')
      return refused(
        'validation_failed',
        'Body field key is for fields that hold a set, and this one holds one value.',
      );
    if (key !== undefined && key.length > stateLimits.maxValueCharacters)
      return refused('validation_failed', `Body field key may have ${stateLimits.maxValueCharacters} characters.`);
    const about = key === undefined ? {} : { key };
    if (value === undefined) return answer(about);
    const parsed = parseValue(field, value, { at: this.system.now().toISOString(), zone });
    if (parsed.ok) return answer({ ...parsed.value, ...about });
    const rule = retract ? `can't be what is retracted: ${parsed.detail}` : `can't be kept: ${parsed.detail}`;
    return refused('validation_failed', `Body field value ${rule}.`, { problem: parsed.code });
  }

  private async view(conversationId: string, revision: bigint): Promise<Answer<StatementView>> {
    const [event] = await this.system.log.at(conversationId, [revision]);
    if (event?.type !== 'StateAsserted' && event?.type !== 'StateRetracted')
      return refused('idempotency_conflict', 'This Idempotency-Key was used with another body.');
    const { position, content, data } = event;
    const { value, currency, key } = content;
    return answer({
      ...{ conversationId, field: data.field, nodeId: data.nodeId },
      ...(value === undefined ? {} : { value }),
      ...(currency === undefined ? {} : { currency }),
      ...(key === undefined ? {} : { key }),
      ...(event.type === 'StateRetracted' && { retracted: true as const }),
      ...{ revision: event.revision, position },
    });
  }
}

const nodeInForce = ({ running, head }: ActiveConversation): string | null =>
  running ? (running.node ?? running.parent) : head;
