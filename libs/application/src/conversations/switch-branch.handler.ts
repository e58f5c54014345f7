import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { answer, type Answer, refused } from '../refusal';
import { commandKey } from '../system/command-keys';
import { ownConversation } from '../system/guard';
import { refusalOf } from '../system/refusals';
import { System } from '../system/system';
import type { HeadView } from '../views';
import { inSource } from './in-source';
import { SwitchBranch } from './switch-branch.command';
import { conversationKeyId } from '@palimpsest/event-store';

@CommandHandler(SwitchBranch)
export class SwitchBranchHandler implements ICommandHandler<SwitchBranch> {
  constructor(private readonly system: System) {}

  async execute({ caller, idempotency, conversationId: id, nodeId }: SwitchBranch): Promise<Answer<HeadView>> {
    return ownConversation(this.system, caller, id, async (conversation) => {
      const { conversationId } = conversation;
      const key = commandKey(await this.system.keys.open(conversationKeyId(conversationId)), caller, idempotency);
      const result = await this.system.engine.write(
        conversation,
        { type: 'SwitchBranch', nodeId, key },
        { actor: caller.actor, correlationId: this.system.newId() },
      );
      if (!result.ok && result.refusal.code === 'not_found') return inSource(this.system, conversation, 'node', nodeId);
      if (!result.ok) return refusalOf(result.refusal);
      if (!result.known) return this.view(conversationId, headOf(result.state), result.revision, result.position);
      const [moved] = await this.system.log.at(conversationId, [result.known.revision]);
      if (moved?.type !== 'HeadMoved')
        return refused('idempotency_conflict', 'This Idempotency-Key was used with another body.');
      return this.view(conversationId, moved.data.to, moved.revision, moved.position);
    });
  }

  private view(conversationId: string, head: string | null, revision: bigint, position: bigint): Answer<HeadView> {
    if (head === null) throw new Error(`Conversation ${conversationId} has no head after a switch.`);
    return answer({ conversationId, head, revision, position });
  }
}

const headOf = (state: { readonly status: string; readonly head?: string | null }): string | null => state.head ?? null;
