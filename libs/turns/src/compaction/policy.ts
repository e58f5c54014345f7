import { setTimeout as sleep } from 'node:timers/promises';
import { estimatingCounter } from '@palimpsest/context';
import type { StartTurn } from '@palimpsest/conversation';
import type { Assistants } from '../assistants';
import type { ConversationWriter } from '../conversation-writer';
import type { EngineEvents } from '../engine-events';
import type { ConversationIdentity } from '../identity';
import { RequestImpossible } from '../request-too-large';
import type { Compactor } from './compactor';
import { isDue, wasTried } from './due';

export interface CompactionPolicyOptions {
  readonly writer: ConversationWriter;
  readonly assistants: Assistants;
  readonly compactor: Compactor;
  readonly events: EngineEvents;
  /** Milliseconds that a question waits for the compaction before it; beyond, the turn starts, and the compaction is superseded. */
  readonly waitMs: number;
}

const POLICY = 'palimpsest';

/**
 * Compacts where an assistant names a threshold and a conversation passes it: when a turn has ended, and before one that would pass it. Whatever
 * becomes of that, the turn is answered; what failed stands in the tree and in the metrics, and is not tried again at the same head.
 */
export class CompactionPolicy {
  private readonly running = new Map<string, Promise<void>>();

  constructor(private readonly options: CompactionPolicyOptions) {}

  afterTurn(conversation: ConversationIdentity, assistantVersion: number): void {
    this.begin(conversation, assistantVersion, '');
  }

  async beforeTurn(conversation: ConversationIdentity, command: StartTurn): Promise<void> {
    const { conversationId } = conversation;
    if (!this.running.has(conversationId)) {
      if ((await this.thresholdOf(conversation, command.assistantVersion)) === undefined) return;
      // A repeated command, or one that is refused, is no reason to do anything.
      if (await this.options.writer.judge(conversation, command)) return;
      this.begin(conversation, command.assistantVersion, command.question);
    }
    await Promise.race([this.running.get(conversationId), sleep(this.options.waitMs, undefined, { ref: false })]);
  }

  private begin(conversation: ConversationIdentity, assistantVersion: number, question: string): void {
    const { conversationId } = conversation;
    if (this.running.has(conversationId)) return;
    const work = this.compactIfDue(conversation, assistantVersion, question)
      .catch((error: unknown) => this.options.events.broken(null, error))
      .finally(() => this.running.delete(conversationId));
    this.running.set(conversationId, work);
  }

  private async compactIfDue(
    conversation: ConversationIdentity,
    assistantVersion: number,
    question: string,
  ): Promise<void> {
    const { writer, compactor } = this.options;
    const threshold = await this.thresholdOf(conversation, assistantVersion);
    if (!threshold) return;
    const { state } = await writer.read(conversation.conversationId, conversation.tenantId);
    if (state.status !== 'active' || state.head === null || state.running || state.queue.length) return;
    if (state.nodes.get(state.head)?.kind === 'compaction' || wasTried(state, state.head)) return;
    const measured = await writer.measure(conversation, 'turn');
    const more = estimatingCounter().text(question);
    if (!measured || !isDue(measured.path, { ...threshold, more })) return;
    await compactor.compact(conversation, { reason: 'pressure', actor: POLICY }).catch((error: unknown) => {
      if (!(error instanceof RequestImpossible)) throw error;
    });
  }

  private async thresholdOf({ assistantId }: ConversationIdentity, version: number) {
    const { definition } = (await this.options.assistants.find(assistantId, version)) ?? {};
    const at = definition?.compaction?.at;
    return at === undefined || !definition ? undefined : { at, cap: definition.model.inputCap };
  }
}
