import type { AssistantDefinition } from '@palimpsest/assistant';
import type { ConversationWriter } from '../conversation-writer';
import type { ConversationIdentity } from '../identity';
import { RequestImpossible } from '../request-too-large';
import { LOOK_AGAIN, POLICY, type Upkeep } from '../upkeep/upkeep';
import type { Compactor } from './compactor';
import { isDue, roomOn, wasTried } from './due';

/** Compacts where an assistant names a threshold and a conversation passes it. */
export class CompactionAtThreshold implements Upkeep {
  constructor(
    private readonly writer: Pick<ConversationWriter, 'look' | 'measure'>,
    private readonly compactor: Pick<Compactor, 'compact'>,
  ) {}

  isWanted({ compaction }: AssistantDefinition): boolean {
    return compaction?.at !== undefined;
  }

  async keep(conversation: ConversationIdentity, definition: AssistantDefinition, more: number): Promise<number> {
    const { compaction, model } = definition;
    const threshold = { at: compaction?.at ?? 1, cap: model.inputCap };
    const seen = await this.writer.look(conversation);
    const { state } = seen;
    if (state.status !== 'active' || state.head === null) return Infinity;
    if (state.running || state.queue.length) return LOOK_AGAIN;
    if (state.nodes.get(state.head)?.kind === 'compaction' || wasTried(state, state.head)) return Infinity;
    const measured = await this.writer.measure(conversation, 'turn', seen);
    if (!measured) return Infinity;
    const { path } = measured;
    if (!isDue(path, { ...threshold, more })) return Math.max(LOOK_AGAIN, roomOn(path, threshold));
    await this.compactor.compact(conversation, { reason: 'pressure', actor: POLICY }).catch((error: unknown) => {
      if (!(error instanceof RequestImpossible)) throw error;
    });
    return LOOK_AGAIN;
  }
}
