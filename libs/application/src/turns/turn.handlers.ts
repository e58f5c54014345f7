import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { conversationKeyId } from '@palimpsest/event-store';
import type { ConversationIdentity } from '@palimpsest/turns';
import { inSource } from '../conversations/in-source';
import { answer, type Answer, refused } from '../refusal';
import { commandKey } from '../system/command-keys';
import { ownConversation, ownTurn } from '../system/guard';
import { refusalOf } from '../system/refusals';
import { System } from '../system/system';
import type { TurnView } from '../views';
import { startFields, startTurn } from './start-turn';
import {
  AskQuestion,
  CancelTurn,
  DecideApproval,
  EditQuestion,
  RegenerateAnswer,
  type StartedTurn,
} from './turn.commands';

@CommandHandler(AskQuestion)
export class AskQuestionHandler implements ICommandHandler<AskQuestion> {
  constructor(private readonly system: System) {}

  async execute({ caller, idempotency, conversationId, text, options }: AskQuestion): Promise<Answer<StartedTurn>> {
    const { system } = this;
    return ownConversation(system, caller, conversationId, async (conversation) => {
      const { parent, assistantVersion = conversation.assistantVersion } = options;
      if (!(await system.assistants.find(conversation.assistantId, assistantVersion)))
        return refused('not_found', `The assistant of this conversation has no version ${assistantVersion}.`);
      const fields = await startFields(system, conversation, caller, idempotency);
      return startTurn(system, conversation, caller, {
        type: 'StartTurn',
        ...fields,
        question: text,
        assistantVersion,
        parent,
      });
    });
  }
}

@CommandHandler(EditQuestion)
export class EditQuestionHandler implements ICommandHandler<EditQuestion> {
  constructor(private readonly system: System) {}

  async execute({ caller, idempotency, conversationId, turnId, text }: EditQuestion): Promise<Answer<StartedTurn>> {
    const { system } = this;
    return ownTurn(
      system,
      caller,
      conversationId,
      turnId,
      async (conversation) => {
        const assistantVersion = await versionOf(system, conversation, turnId);
        const fields = await startFields(system, conversation, caller, idempotency);
        return startTurn(system, conversation, caller, {
          type: 'EditTurn',
          ...fields,
          of: turnId,
          question: text,
          assistantVersion,
        });
      },
      (conversation) => inSource(system, conversation, 'turn', turnId),
    );
  }
}

@CommandHandler(RegenerateAnswer)
export class RegenerateAnswerHandler implements ICommandHandler<RegenerateAnswer> {
  constructor(private readonly system: System) {}

  async execute({ caller, idempotency, conversationId, turnId }: RegenerateAnswer): Promise<Answer<StartedTurn>> {
    const { system } = this;
    return ownTurn(
      system,
      caller,
      conversationId,
      turnId,
      async (conversation, start) => {
        const [begun] = await system.log.at(conversation.conversationId, [start]);
        if (begun?.type !== 'TurnStarted' && begun?.type !== 'TurnQueued')
          throw new Error(`Turn ${turnId} does not begin at revision ${start}.`);
        const assistantVersion = await versionOf(system, conversation, turnId);
        const fields = await startFields(system, conversation, caller, idempotency);
        const { question } = begun.content;
        return startTurn(system, conversation, caller, {
          type: 'RegenerateTurn',
          ...fields,
          of: turnId,
          question,
          assistantVersion,
        });
      },
      (conversation) => inSource(system, conversation, 'turn', turnId),
    );
  }
}

@CommandHandler(CancelTurn)
export class CancelTurnHandler implements ICommandHandler<CancelTurn> {
  constructor(private readonly system: System) {}

  async execute({ caller, idempotency, conversationId, turnId }: CancelTurn): Promise<Answer<TurnView>> {
    const { system } = this;
    return ownTurn(system, caller, conversationId, turnId, async (conversation, start) => {
      const key = commandKey(
        await system.keys.open(conversationKeyId(conversation.conversationId)),
        caller,
        idempotency,
      );
      const context = { actor: caller.actor, correlationId: turnId };
      const arrived = await arrivedOf(system, conversation, turnId);
      const result = await system.engine.write(conversation, { type: 'CancelTurn', turnId, arrived, key }, context);
      if (!result.ok) return refusalOf(result.refusal);
      return answer(await system.turns.now(conversation.conversationId, turnId, start));
    });
  }
}

@CommandHandler(DecideApproval)
export class DecideApprovalHandler implements ICommandHandler<DecideApproval> {
  constructor(private readonly system: System) {}

  async execute({
    caller,
    idempotency,
    conversationId,
    toolCallId,
    decision,
    argumentsDigest,
  }: DecideApproval): Promise<Answer<StartedTurn>> {
    const { system } = this;
    return ownConversation(system, caller, conversationId, async (conversation) => {
      const { state } = await system.writer.read(conversation.conversationId, conversation.tenantId);
      const turnId = state.status === 'active' ? state.toolCalls.get(toolCallId)?.turnId : undefined;
      if (turnId === undefined) return refused('not_found', 'There is no such tool call in this conversation.');
      const { carrier, bounds, key } = await startFields(system, conversation, caller, idempotency);
      const command = { type: 'DecideApproval', toolCallId, decision, argumentsDigest, carrier, bounds, key } as const;
      const result = await system.engine.carry(conversation, turnId, carrier, command, {
        actor: caller.actor,
        correlationId: turnId,
      });
      if (!result.ok) return refusalOf(result.refusal);
      const revision = result.known?.revision ?? result.events[0]?.revision ?? result.revision;
      return answer({ turnId, revision, position: result.position });
    });
  }
}

/** What has arrived of the call that is out: a person may have seen it, here or at another process. */
async function arrivedOf(
  system: System,
  { conversationId, tenantId }: ConversationIdentity,
  turnId: string,
): Promise<{ nodeId: string; text: string } | undefined> {
  const { state } = await system.writer.read(conversationId, tenantId);
  const running = state.status === 'active' ? state.running : undefined;
  if (running?.turnId !== turnId || running.node === null) return undefined;
  const text = await system.turns.arrived(conversationId, turnId, running.node);
  return text === undefined ? undefined : { nodeId: running.node, text };
}

/** An edit and a regeneration are asked of the version that the turn was asked of. */
async function versionOf(system: System, conversation: ConversationIdentity, turnId: string): Promise<number> {
  const { state } = await system.writer.read(conversation.conversationId, conversation.tenantId);
  const start = state.status === 'active' ? state.turns.get(turnId)?.start : undefined;
  return start?.assistantVersion ?? conversation.assistantVersion;
}
