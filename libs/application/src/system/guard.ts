import { KeyLost, OutcomeUnknown, Sealed } from '@palimpsest/event-store';
import type { ConversationIdentity } from '@palimpsest/turns';
import { validate as isUuid } from 'uuid';
import type { Caller } from '../caller/caller';
import { type Answer, refused } from '../refusal';
import type { System } from './system';

const notFound = (what: string) => refused('not_found', `There is no such ${what}.`);

/** Turns what the layers below throw for a reason that a caller can act on into a refusal. Whatever else they throw is broken. */
export async function guarded<T>(work: () => Promise<Answer<T>>): Promise<Answer<T>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Sealed)
      return refused('sealed', 'Its key was destroyed: what it held can never be read again.');
    if (error instanceof KeyLost)
      return refused(
        'key_lost',
        'Its key is missing, and nobody destroyed it. An operator has to restore the keys from their backup.',
      );
    if (error instanceof OutcomeUnknown)
      return refused(
        'outcome_unknown',
        'The event store has not said whether this was stored. Send it again with the same Idempotency-Key.',
      );
    throw error;
  }
}

/** The conversation, if it is the caller's own: another tenant's does not exist. */
export async function ownConversation<T>(
  system: System,
  caller: Caller,
  conversationId: string,
  work: (conversation: ConversationIdentity) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  return guarded(async () => {
    const conversation = isUuid(conversationId)
      ? await system.identities.find(conversationId.toLowerCase())
      : undefined;
    return conversation?.tenantId === caller.tenantId ? work(conversation) : notFound('conversation');
  });
}

/** Where a turn was queued or started, from the decider's own state; the log holds it from there on. */
export async function ownTurn<T>(
  system: System,
  caller: Caller,
  conversationId: string,
  turnId: string,
  work: (conversation: ConversationIdentity, start: bigint) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  return ownConversation(system, caller, conversationId, async (conversation) => {
    const { state } = await system.writer.read(conversation.conversationId, conversation.tenantId);
    const turn = state.status === 'active' ? state.turns.get(turnId) : undefined;
    return turn ? work(conversation, BigInt(turn.addedAt)) : notFound('turn');
  });
}

/** Waits, bounded, until the read model has this revision of the conversation. */
export async function upTo<T>(
  system: System,
  conversationId: string,
  minRevision: bigint | undefined,
  work: () => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const until = performance.now() + system.limits.maxWaitMs;
  for (;;) {
    const row = await system.tree.conversation(conversationId);
    // A conversation that the log has and the read model does not is waited for, as of now.
    if (row && (minRevision === undefined || row.revision >= minRevision)) return work();
    const left = until - performance.now();
    if (left <= 0) {
      const revision = row ? row.revision : null;
      return refused('behind', 'The read model has not reached that revision yet. Ask again in a moment.', {
        revision,
        minRevision: minRevision ?? 0n,
      });
    }
    await system.projector.moved(Math.min(left, 100));
  }
}
