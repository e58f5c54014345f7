import type { ConversationState } from '@palimpsest/conversation';
import { conversationKeyId, EventUnreadable, KeyLost, OutcomeUnknown, Sealed } from '@palimpsest/event-store';
import type { Projector } from '@palimpsest/read-models';
import type { ConversationIdentity } from '@palimpsest/turns';
import { validate as isUuid } from 'uuid';
import type { Caller } from '../caller/caller';
import { type Answer, refused } from '../refusal';
import { conversationDeleted } from './refusals';
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
    if (error instanceof EventUnreadable) return logDamaged(error);
    if (error instanceof OutcomeUnknown)
      return refused(
        'outcome_unknown',
        'The event store has not said whether this was stored. Send it again with the same Idempotency-Key.',
      );
    throw error;
  }
}

/** An event that it needs is none any more. Nothing is decided past it, and nothing before it is lost. */
const logDamaged = ({ place: { revision } }: EventUnreadable) =>
  refused(
    'log_damaged',
    `An event that this needs (revision ${revision}) can't be read in the log any more; what stands before it is there. An operator has to run palimpsest verify and restore it.`,
    { revision: String(revision) },
  );

/** The conversation, if it is the caller's own: another tenant's does not exist. What was deleted is 410 under its id, and nowhere else. */
export async function ownConversation<T>(
  system: System,
  caller: Caller,
  conversationId: string,
  work: (conversation: ConversationIdentity) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  return ownConversationEvenIfDeleted(system, caller, conversationId, async (conversation) => {
    if (conversation.deleted) return conversationDeleted();
    // Also where the answer would need no content: what was erased, or can't be read, is so on every route.
    await system.keys.open(conversationKeyId(conversation.conversationId));
    return work(conversation);
  });
}

/** For those who ask about its end. */
export async function ownConversationEvenIfDeleted<T>(
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

/**
 * Where a turn was queued or started, from the decider's own state; the log holds it from there on. A turn that memory knows is there; that
 * there is none takes a fresh read (PROTOCOL A1).
 */
export async function ownTurn<T>(
  system: System,
  caller: Caller,
  conversationId: string,
  turnId: string,
  work: (conversation: ConversationIdentity, start: bigint) => Promise<Answer<T>>,
  absent: (conversation: ConversationIdentity) => Promise<Answer<T>> = async () => notFound('turn'),
): Promise<Answer<T>> {
  return ownConversation(system, caller, conversationId, async (conversation) => {
    const known = addedAt(system.writer.known(conversation.conversationId), turnId);
    const added = known ?? (await addedInLog(system, conversation, turnId));
    return added === undefined ? absent(conversation) : work(conversation, BigInt(added));
  });
}

/** A stream that is damaged further on has no state; a turn that began before the damage is found all the same. */
async function addedInLog(
  { writer, log }: System,
  { conversationId, tenantId }: ConversationIdentity,
  turnId: string,
): Promise<bigint | number | undefined> {
  try {
    return addedAt((await writer.read(conversationId, tenantId)).state, turnId);
  } catch (error) {
    if (!(error instanceof EventUnreadable)) throw error;
    for await (const { type, data, revision } of log.following(conversationId, -1n))
      if ((type === 'TurnQueued' || type === 'TurnStarted') && data.turnId === turnId) return revision;
    throw error;
  }
}

/** Waits, bounded, until a read model has reached this position of the log. */
export async function upToPosition<T>(
  { limits }: System,
  projector: Projector,
  minPosition: bigint | undefined,
  work: () => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const until = performance.now() + limits.maxWaitMs;
  while (minPosition !== undefined && projector.position < minPosition) {
    const left = until - performance.now();
    const { position } = projector;
    if (left <= 0)
      return refused('behind', 'The read model has not reached that position yet. Ask again in a moment.', {
        position,
        minPosition,
      });
    await projector.moved(Math.min(left, 100));
  }
  return work();
}

/** Where a page goes on: the `next` of the page before. Undefined: no list gave this. */
export const pageStart = (cursor: string | undefined): { readonly after: bigint | undefined } | undefined =>
  cursor === undefined || /^\d{1,18}$/.test(cursor)
    ? { after: cursor === undefined ? undefined : BigInt(cursor) }
    : undefined;

function addedAt(state: ConversationState | undefined, turnId: string): number | undefined {
  return state?.status === 'active' ? state.turns.get(turnId)?.addedAt : undefined;
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
    if (!row && (await system.identities.find(conversationId))?.deleted) return conversationDeleted();
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
