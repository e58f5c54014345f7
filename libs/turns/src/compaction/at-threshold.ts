import type { AssistantDefinition } from '@palimpsest/assistant';
import type { ConversationWriter } from '../conversation-writer';
import { type ConversationIdentity, OURSELVES } from '../identity';
import { RequestImpossible } from '../request-too-large';
import { untilEnded } from '../until-ended';
import { LOOK_AGAIN, type Upkeep } from '../upkeep/upkeep';
import type { Compactor } from './compactor';
import { isDue, pendingAt, roomOn, wasTried } from './due';

export interface CompactionAtThresholdOptions {
  readonly writer: Pick<ConversationWriter, 'look' | 'read' | 'measure'>;
  readonly compactor: Pick<Compactor, 'compact'>;
  /** Milliseconds that a compaction which another process makes is waited for. */
  readonly waitMs: number;
}

/** Compacts where an assistant names a threshold and a conversation passes it. */
export class CompactionAtThreshold implements Upkeep {
  constructor(private readonly options: CompactionAtThresholdOptions) {}

  isWanted({ compaction }: AssistantDefinition): boolean {
    return compaction?.at !== undefined;
  }

  async keep(conversation: ConversationIdentity, definition: AssistantDefinition, more: number): Promise<number> {
    const { writer, compactor, waitMs } = this.options;
    const { compaction, model } = definition;
    const threshold = { at: compaction?.at ?? 1, cap: model.inputCap };
    const seen = await writer.look(conversation);
    const { state } = seen;
    if (state.status !== 'active' || state.head === null) return Infinity;
    if (state.running || state.queue.length) return LOOK_AGAIN;
    const pending = pendingAt(state, state.head);
    if (pending !== undefined) {
      await untilEnded(writer, conversation, pending, AbortSignal.timeout(waitMs));
      return LOOK_AGAIN;
    }
    if (state.nodes.get(state.head)?.kind === 'compaction' || wasTried(state, state.head)) return Infinity;
    const measured = await writer.measure(conversation, 'turn', seen);
    if (!measured) return Infinity;
    const { path } = measured;
    if (!isDue(path, { ...threshold, more })) return Math.max(LOOK_AGAIN, roomOn(path, threshold));
    await compactor.compact(conversation, { reason: 'pressure', actor: OURSELVES }).catch((error: unknown) => {
      if (!(error instanceof RequestImpossible)) throw error;
    });
    return LOOK_AGAIN;
  }
}
