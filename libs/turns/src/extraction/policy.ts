import { setTimeout as sleep } from 'node:timers/promises';
import type { ActiveConversation, CommandKey, NodeId, TurnId } from '@palimpsest/conversation';
import type { Assistants } from '../assistants';
import type { ConversationWriter } from '../conversation-writer';
import type { EngineEvents } from '../engine-events';
import type { ConversationIdentity } from '../identity';
import { RequestImpossible } from '../request-too-large';
import { untilEnded } from '../until-ended';
import { type TurnBefore, turnsBefore } from './before';
import type { Extractor } from './extractor';

export interface ExtractionPolicyOptions {
  readonly writer: Pick<ConversationWriter, 'read'>;
  readonly assistants: Assistants;
  readonly extractor: Pick<Extractor, 'extract'>;
  readonly events: Pick<EngineEvents, 'broken'>;
  /** Milliseconds that a question waits for the extractions before it, where its assistant has it wait. */
  readonly waitMs: number;
}

/** A question that is about to be asked. */
export interface ComingTurn {
  readonly assistantVersion: number;
  /** The turn that is edited or asked again. */
  readonly of?: TurnId;
  readonly key?: CommandKey | undefined;
}

/**
 * Has each completed turn extracted, once, where its assistant says so; and has a question wait for what the turns before it say, bounded. Whatever
 * becomes of an extraction, the turn is answered.
 */
export class ExtractionPolicy {
  private readonly running = new Map<TurnId, Promise<void>>();

  constructor(private readonly options: ExtractionPolicyOptions) {}

  afterTurn(conversation: ConversationIdentity, turnId: TurnId): void {
    void this.begin(conversation, turnId);
  }

  async beforeTurn(conversation: ConversationIdentity, coming: ComingTurn): Promise<void> {
    const { assistants, waitMs, events } = this.options;
    const assistant = await assistants.find(conversation.assistantId, coming.assistantVersion);
    const mode = assistant?.definition.extraction?.mode;
    if (!mode) return;
    const deadline = AbortSignal.timeout(waitMs);
    const settling = this.settle(conversation, coming, deadline).catch((error: unknown) => events.broken(null, error));
    if (mode === 'before') await Promise.race([settling, sleep(waitMs, undefined, { ref: false })]);
  }

  private async settle(conversation: ConversationIdentity, coming: ComingTurn, deadline: AbortSignal): Promise<void> {
    const { state } = await this.options.writer.read(conversation.conversationId, conversation.tenantId);
    if (state.status !== 'active' || isRefused(state, coming)) return;
    const turns = turnsBefore(state, placeOf(state, coming));
    await Promise.all(turns.map((turn) => this.settled(conversation, turn, deadline)));
  }

  private async settled(
    conversation: ConversationIdentity,
    { turnId, extraction, pending }: TurnBefore,
    deadline: AbortSignal,
  ): Promise<void> {
    const running = this.running.get(turnId);
    if (running) return running;
    if (pending !== undefined) return untilEnded(this.options.writer, conversation, pending, deadline);
    if (extraction === 'none' || extraction === 'out') await this.begin(conversation, turnId);
  }

  private begin(conversation: ConversationIdentity, turnId: TurnId): Promise<void> {
    const { extractor, events } = this.options;
    const work = extractor
      .extract(conversation, turnId)
      .catch((error: unknown) => {
        if (!(error instanceof RequestImpossible)) events.broken(null, error);
      })
      .finally(() => this.running.delete(turnId));
    this.running.set(turnId, work);
    return work;
  }
}

/** A repeated command has its answer, and one that will be refused has nothing to wait for. */
const isRefused = ({ running, keys }: ActiveConversation, { key }: ComingTurn): boolean =>
  running !== null || (key !== undefined && keys.has(key.name));

/** What the turn will grow from. */
const placeOf = ({ head, turns }: ActiveConversation, { of }: ComingTurn): NodeId | null =>
  of === undefined ? head : (turns.get(of)?.start?.parent ?? null);
