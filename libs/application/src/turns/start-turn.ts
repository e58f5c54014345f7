import type { CommandKey } from '@palimpsest/conversation';
import { conversationKeyId } from '@palimpsest/event-store';
import type { Begun, CarryingCommand, ConversationIdentity } from '@palimpsest/turns';
import type { Caller, Idempotency } from '../caller/caller';
import { answer, type Answer, refused } from '../refusal';
import { commandKey } from '../system/command-keys';
import { refusalOf } from '../system/refusals';
import type { System } from '../system/system';
import type { StartedTurn } from './turn.commands';

/** What every start has: ids and instants made here, and the key. */
export interface TurnStartFields {
  readonly turnId: string;
  readonly carrier: string;
  readonly at: string;
  readonly zone: string;
  readonly bounds: CarryingCommand['bounds'];
  readonly key: CommandKey;
}

export async function startFields(
  system: System,
  conversation: ConversationIdentity,
  caller: Caller,
  idempotency: Idempotency,
): Promise<TurnStartFields> {
  const keys = await system.keys.open(conversationKeyId(conversation.conversationId));
  return {
    turnId: system.newId(),
    carrier: system.newId(),
    at: system.now().toISOString(),
    zone: conversation.zone,
    bounds: system.engine.bounds(),
    key: commandKey(keys, caller, idempotency),
  };
}

export async function startTurn(
  system: System,
  conversation: ConversationIdentity,
  caller: Caller,
  command: CarryingCommand,
): Promise<Answer<StartedTurn>> {
  if (system.engine.stopped)
    return refused(
      'shutting_down',
      'This process is shutting down and starts no turns. Ask another one, or ask again.',
    );
  const begun: Begun = await system.engine.begin(conversation, command, caller.actor);
  if (!begun.ok) {
    const { refusal } = begun;
    if (refusal.code !== 'too_many_turns') return refusalOf(refusal);
    return refused('too_many_turns', 'As many turns run as may run at once. Ask again in a moment.', {
      running: refusal.running,
      limit: refusal.limit,
    });
  }
  if (begun.known)
    return answer({
      turnId: begun.known.turnId ?? command.turnId,
      revision: begun.known.revision,
      position: begun.position,
    });
  const revision = begun.events[0]?.revision ?? begun.revision;
  return answer({ turnId: command.turnId, revision, position: begun.position });
}
