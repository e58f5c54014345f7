import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type ConversationState, decide } from '@palimpsest/conversation';
import { conversationKeyId } from '@palimpsest/event-store';
import { conversationStream } from '@palimpsest/read-models';
import type { ConversationIdentity } from '@palimpsest/turns';
import { answer, type Answer, type RequestRefusal } from '../refusal';
import { ownConversationEvenIfDeleted } from '../system/guard';
import { refusalOf } from '../system/refusals';
import { System } from '../system/system';
import type { DeletedView } from '../views';
import { DeleteConversation } from './delete-conversation.command';

/** A conversation that is to go. One that grows from another may never have come to be. */
interface Doomed {
  readonly conversation: ConversationIdentity;
  readonly state: ConversationState;
}

type Refused = { readonly ok: false; readonly refusal: RequestRefusal };

/** Tries while others begin conversations that grow from what is to go. */
const MAX_ROUNDS = 3;

@CommandHandler(DeleteConversation)
export class DeleteConversationHandler implements ICommandHandler<DeleteConversation> {
  constructor(private readonly system: System) {}

  async execute({ caller, conversationId: id, cascade }: DeleteConversation): Promise<Answer<DeletedView>> {
    return ownConversationEvenIfDeleted(this.system, caller, id, async (conversation) => {
      if (conversation.deleted) return this.finish(conversation);
      for (let round = 1; ; round += 1) {
        const doomed = await this.doomed(conversation);
        const growing = doomed.slice(0, -1);
        const refused = cascade ? refusalAmong(doomed) : undefined;
        if (refused) return refused;
        for (const { conversation: each } of cascade ? growing : []) {
          const left = await this.remove(each, caller.actor);
          if (left) return left;
        }
        const left = await this.remove(conversation, caller.actor);
        if (!left) return this.finish(conversation);
        const isNew = cascade && left.refusal.code === 'has_dependents' && round < MAX_ROUNDS;
        if (!isNew) return left;
      }
    });
  }

  /** It and all that grow from it and are not deleted; each behind those that grow from it. */
  private async doomed(conversation: ConversationIdentity, seen = new Set<string>()): Promise<Doomed[]> {
    const { conversationId, tenantId } = conversation;
    seen.add(conversationId);
    const { state } = await this.system.writer.read(conversationId, tenantId);
    if (state.status === 'deleted') return [];
    const found: Doomed[] = [];
    for (const id of state.status === 'active' ? state.dependents : [])
      if (!seen.has(id)) found.push(...(await this.doomed({ ...conversation, conversationId: id }, seen)));
    return [...found, { conversation, state }];
  }

  /** Undefined: it is deleted. */
  private async remove(conversation: ConversationIdentity, actor: string): Promise<Refused | undefined> {
    const { keys, engine } = this.system;
    const { conversationId, subjectId, tenantId } = conversation;
    // One that never came to be has no key yet, and its end is appended like any other: then whoever would begin it finds both.
    const keyId = conversationKeyId(conversationId);
    await keys.forConversation(conversationId, subjectId);
    const { state } = await this.system.writer.read(conversationId, tenantId);
    const deletedDependents = await this.deletedAmong(state, tenantId);
    const command = { type: 'DeleteConversation', keyId, deletedDependents } as const;
    const result = await engine.write(conversation, command, { actor, correlationId: this.system.newId() });
    if (!result.ok) return refusalOf(result.refusal);
    await this.erase(conversationId);
    return undefined;
  }

  private async deletedAmong(state: ConversationState, tenantId: string): Promise<readonly string[]> {
    const deleted: string[] = [];
    for (const id of state.status === 'active' ? state.dependents : [])
      if ((await this.system.writer.read(id, tenantId)).state.status === 'deleted') deleted.push(id);
    return deleted;
  }

  /** Of what is stored as deleted: also again, where a process died in between. */
  private async erase(conversationId: string): Promise<void> {
    await this.system.keys.destroy(conversationKeyId(conversationId));
    await this.system.forget(conversationId);
  }

  private async finish({ conversationId }: ConversationIdentity): Promise<Answer<DeletedView>> {
    await this.erase(conversationId);
    const stream = conversationStream(conversationId);
    for await (const { revision, position } of this.system.store.readStream(stream, {
      direction: 'backwards',
      limit: 1,
    }))
      return answer({ conversationId, revision, position, pending: ['write_ahead_log', 'backups'] });
    throw new Error(`Conversation ${conversationId} is deleted, and its stream is empty.`);
  }
}

/** Before anything goes: one that is busy would be left alone without what grows from it. */
function refusalAmong(doomed: readonly Doomed[]): Refused | undefined {
  const ids = doomed.map(({ conversation }) => conversation.conversationId);
  for (const { conversation, state } of doomed) {
    const { conversationId } = conversation;
    const deletedDependents = state.status === 'active' ? state.dependents : ids;
    const decision = decide(state, { type: 'DeleteConversation', keyId: '', deletedDependents });
    if (decision.ok) continue;
    const { refusal } = refusalOf(decision.refusal);
    return { ok: false, refusal: { ...refusal, numbers: { ...refusal.numbers, conversationId } } };
  }
  return undefined;
}
