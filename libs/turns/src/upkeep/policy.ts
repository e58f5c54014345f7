import { setTimeout as sleep } from 'node:timers/promises';
import type { AssistantDefinition } from '@palimpsest/assistant';
import { estimatingCounter } from '@palimpsest/context';
import type { NodeId, StartTurn, TurnId } from '@palimpsest/conversation';
import { LRUCache } from 'lru-cache';
import type { Assistants } from '../assistants';
import type { ConversationWriter } from '../conversation-writer';
import type { EngineEvents } from '../engine-events';
import type { ConversationIdentity } from '../identity';
import type { ContextTooLarge } from '../request-too-large';
import type { Segments } from '../segments/segments';
import type { Upkeep } from './upkeep';

export interface ContextPolicyOptions {
  readonly writer: ConversationWriter;
  readonly assistants: Assistants;
  /** In the order in which they are done. */
  readonly upkeep: readonly Upkeep[];
  readonly segments: Pick<Segments, 'makeRoom'>;
  readonly events: EngineEvents;
  /** Milliseconds that a question waits for what is done before it; beyond, the turn starts without. */
  readonly waitMs: number;
}

/** What was seen at a head: by what this version of the assistant wants, nothing is due there before a question of at least so many tokens. */
interface Settled {
  readonly head: NodeId | null;
  readonly assistantVersion: number;
  readonly room: number;
}

const HEADS_REMEMBERED = 10_000;

/**
 * Keeps what conversations send small, as their assistants want it: when a turn has ended, and before one for which more is due. Whatever becomes of
 * that, the turn is answered; what failed stands in the tree and in the metrics, and is not tried again at the same place.
 */
export class ContextPolicy {
  private readonly running = new Map<string, Promise<void>>();
  private readonly settled = new LRUCache<string, Settled>({ max: HEADS_REMEMBERED });

  constructor(private readonly options: ContextPolicyOptions) {}

  afterTurn(conversation: ConversationIdentity, assistantVersion: number): void {
    this.begin(conversation, assistantVersion, 0);
  }

  async beforeTurn(conversation: ConversationIdentity, command: StartTurn): Promise<void> {
    const { conversationId, tenantId } = conversation;
    const { writer, waitMs } = this.options;
    const bound = sleep(waitMs, undefined, { ref: false });
    // It was begun for another question, or for none: what it leaves may be more than this one has room for.
    await Promise.race([this.running.get(conversationId), bound]);
    if (!this.running.has(conversationId)) {
      if ((await this.wanted(conversation, command.assistantVersion)).upkeep.length === 0) return;
      // Another process may have carried the turn before.
      await writer.read(conversationId, tenantId);
      const more = estimatingCounter().text(command.question);
      if (this.isSettled(conversationId, command.assistantVersion, more)) return;
      // A repeated command, or one that is refused, is no reason to do anything.
      if (await writer.judge(conversation, command)) return;
      this.begin(conversation, command.assistantVersion, more);
    }
    await Promise.race([this.running.get(conversationId), bound]);
  }

  /** For a turn whose request is too large: whether a summary of what was said before it was tried, so that the request may be tried again. */
  async makeRoom(conversation: ConversationIdentity, turnId: TurnId, tooLarge: ContextTooLarge): Promise<boolean> {
    const running = this.running.get(conversation.conversationId);
    if (running) return running.then(() => true);
    const { state } = await this.options.writer.look(conversation);
    const start = state.status === 'active' ? state.turns.get(turnId)?.start : undefined;
    const { definition } = start ? await this.wanted(conversation, start.assistantVersion) : {};
    if (!start || !definition) return false;
    return this.options.segments.makeRoom(conversation, definition, start, tooLarge);
  }

  private begin(conversation: ConversationIdentity, assistantVersion: number, more: number): void {
    const { conversationId } = conversation;
    if (this.running.has(conversationId)) return;
    const work = this.keep(conversation, assistantVersion, more)
      .catch((error: unknown) => this.options.events.broken(null, error))
      .finally(() => this.running.delete(conversationId));
    this.running.set(conversationId, work);
  }

  private async keep(conversation: ConversationIdentity, assistantVersion: number, more: number): Promise<void> {
    const { conversationId } = conversation;
    const { definition, upkeep } = await this.wanted(conversation, assistantVersion);
    if (!definition) return;
    const head = this.headOf(conversationId);
    let room = Infinity;
    for (const one of upkeep) room = Math.min(room, await one.keep(conversation, definition, more));
    if (head !== undefined) this.settled.set(conversationId, { head, assistantVersion, room });
  }

  private isSettled(conversationId: string, assistantVersion: number, more: number): boolean {
    const settled = this.settled.get(conversationId);
    if (settled?.assistantVersion !== assistantVersion || settled.head !== this.headOf(conversationId)) return false;
    return more < settled.room;
  }

  private headOf(conversationId: string): NodeId | null | undefined {
    const state = this.options.writer.known(conversationId);
    return state?.status === 'active' ? state.head : undefined;
  }

  private async wanted(
    { assistantId }: ConversationIdentity,
    version: number,
  ): Promise<{ readonly definition?: AssistantDefinition; readonly upkeep: readonly Upkeep[] }> {
    const found = await this.options.assistants.find(assistantId, version);
    if (!found) return { upkeep: [] };
    const { definition } = found;
    return { definition, upkeep: this.options.upkeep.filter((one) => one.isWanted(definition)) };
  }
}
