import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { conversationKeyId } from '@palimpsest/event-store';
import { RequestImpossible } from '@palimpsest/turns';
import { answer, type Answer, refused } from '../refusal';
import { commandKey } from '../system/command-keys';
import { ownConversation } from '../system/guard';
import { conversationDeleted, refusalOf } from '../system/refusals';
import { System } from '../system/system';
import type { CompactionView } from '../views';
import { CompactConversation } from './compact-conversation.command';

@CommandHandler(CompactConversation)
export class CompactConversationHandler implements ICommandHandler<CompactConversation> {
  constructor(private readonly system: System) {}

  async execute(command: CompactConversation): Promise<Answer<CompactionView>> {
    const { caller, idempotency, conversationId: id, reason = 'demand' } = command;
    const { keys, engine, compactor } = this.system;
    return ownConversation(this.system, caller, id, async (conversation) => {
      if (engine.stopped)
        return refused('shutting_down', 'This process is shutting down and starts no work. Ask another, or ask again.');
      const { conversationId } = conversation;
      const key = commandKey(await keys.open(conversationKeyId(conversationId)), caller, idempotency);
      const compacted = await compactor
        .compact(conversation, { reason, actor: caller.actor, key })
        .catch((error: unknown) => impossible(error));
      if (compacted instanceof RequestImpossible) return refused('context_too_large', compacted.message);
      if (!compacted.ok) return refusalOf(compacted.refusal);
      if ('outcome' in compacted) {
        const { outcome } = compacted;
        if (engine.stopped && outcome.status === 'failed' && outcome.reason === 'interrupted') return processEnds;
        return this.asItEnded(conversationId, outcome);
      }
      const { nodeId, revision } = compacted.known;
      if (nodeId === undefined) return refused('idempotency_conflict', 'This Idempotency-Key was used otherwise.');
      return this.asItEnded(conversationId, { nodeId, revision });
    });
  }

  /** From the log, so that equal keys get equal answers. `revision`: the node's end stands there, or it was requested there. */
  private async asItEnded(
    conversationId: string,
    { nodeId, revision }: { readonly nodeId: string; readonly revision: bigint },
  ): Promise<Answer<CompactionView>> {
    const { turns, limits, engine, identities } = this.system;
    const patience = AbortSignal.any([AbortSignal.timeout(limits.callTimeoutMs), engine.stopSignal]);
    const ended = await turns.nodeEnded(conversationId, nodeId, revision, patience);
    if (ended) return answer(ended);
    if ((await identities.find(conversationId))?.deleted) return conversationDeleted();
    if (engine.stopped) return processEnds;
    return refused('behind', 'The compaction has not ended yet. Ask again with the same key.');
  }
}

const processEnds = refused(
  'shutting_down',
  'This process ended before the compaction did. What became of it, the same Idempotency-Key tells at another.',
);

function impossible(error: unknown): RequestImpossible {
  if (error instanceof RequestImpossible) return error;
  throw error;
}
