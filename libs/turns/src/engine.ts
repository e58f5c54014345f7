import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ActiveConversation,
  type Bounds,
  carrierOf,
  type ConversationCommand,
  type FailureReason,
} from '@palimpsest/conversation';
import type { AssembledRequest } from './assembly';
import { Carries, type CarryLimits, type Full } from './carries';
import type { Carry, TurnWriter } from './carry';
import type { CommandContext, ConversationWriter, Handled, Stored, WriteOptions } from './conversation-writer';
import type { EngineEvents } from './engine-events';
import type { ExtractionPolicy } from './extraction/policy';
import { type ConversationIdentity, OURSELVES } from './identity';
import type { Leases } from './leases';
import type { ModelCalls } from './model-calls';
import type { Paths } from './paths';
import { ContextTooLarge, RequestImpossible } from './request-too-large';
import type { ToolRuns } from './tool-runs';
import type { ContextPolicy } from './upkeep/policy';
import type { TurnFeed } from './turn-feed';

/** Named limits of a process that carries turns. */
export interface EngineLimits extends CarryLimits {
  readonly maxRounds: number;
  /** Milliseconds after which an approval that nobody decided expires. */
  readonly approvalMs: number;
}

export interface EngineOptions {
  readonly writer: ConversationWriter;
  readonly leases: Leases;
  readonly paths: Paths;
  readonly feed: TurnFeed;
  readonly calls: ModelCalls;
  readonly tools: ToolRuns;
  readonly limits: EngineLimits;
  readonly events: EngineEvents;
  readonly now: () => Date;
  readonly newId: () => string;
  /** The question of a queued turn, from the log. */
  readonly questionOf: (conversationId: string, turnId: string) => Promise<string | undefined>;
  /** Before a client's question, when a turn has ended and nothing waits, and where a request does not fit. */
  readonly context: Pick<ContextPolicy, 'beforeTurn' | 'afterTurn' | 'makeRoom'>;
  /** Before any question, and when a turn has completed. */
  readonly extraction: Pick<ExtractionPolicy, 'beforeTurn' | 'afterTurn'>;
}

export type Begun = Handled | { readonly ok: false; readonly refusal: { readonly code: 'too_many_turns' } & Full };

/** A client's start of a turn: whoever appends it carries the turn. */
export type CarryingCommand = Extract<ConversationCommand, { type: 'StartTurn' | 'EditTurn' | 'RegenerateTurn' }>;

/** What another process wrote, as the log shows it: routing only. */
interface ForeignEvent {
  readonly type: string;
  readonly data: { readonly [key: string]: unknown };
}

/** Summaries that are made for one request that does not fit. */
const MOST_ROOMS = 4;
/** Tries to go on after a fact was stored alone, before the turn is given up; the pause before each. */
const GO_ON_PAUSES_MS = [0, 200, 1000, 3000];

/**
 * Carries turns: appends, and once an append is known to be stored does what its own events name, and nobody else's (PROTOCOL A4). Moves
 * forward only, and is never rebuilt.
 */
export class TurnEngine implements TurnWriter {
  private readonly carries: Carries;
  private readonly stopping = new AbortController();

  constructor(private readonly options: EngineOptions) {
    this.carries = new Carries(options.limits, options.leases, options.events);
  }

  /** Carriers whose leases are to be renewed. */
  get carriers(): readonly string[] {
    return this.carries.all.map(({ carrier }) => carrier);
  }

  /** Turns that this process carries. */
  get running(): number {
    return this.carries.size;
  }

  get stopped(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Aborted as soon as this process takes no new work: who waits for another process's lets go. */
  get stopSignal(): AbortSignal {
    return this.stopping.signal;
  }

  isCarrying(carrier: string): boolean {
    return this.carries.get(carrier) !== undefined;
  }

  /** Leases were renewed by a statement that began at this monotonic instant. */
  renewed(at: number): void {
    for (const carry of this.carries.all) carry.renewedAt = Math.max(carry.renewedAt, at);
  }

  bounds(): Bounds {
    const { maxRounds, approvalMs } = this.options.limits;
    return { maxRounds, approvalsExpireAt: new Date(this.options.now().getTime() + approvalMs).toISOString() };
  }

  /** Starts a turn for a client. */
  async begin(conversation: ConversationIdentity, command: CarryingCommand, actor: string): Promise<Begun> {
    const { turnId, carrier } = command;
    const context = { actor, correlationId: turnId };
    await this.options.extraction.beforeTurn(conversation, command);
    if (command.type === 'StartTurn') await this.options.context.beforeTurn(conversation, command);
    const begun = await this.carries.inPlace(conversation.tenantId, () =>
      this.carry(conversation, turnId, carrier, command, context),
    );
    if (!('full' in begun)) return begun;
    const judged = await this.options.writer.judge(conversation, command);
    return judged ?? { ok: false, refusal: { code: 'too_many_turns', ...begun.full } };
  }

  /**
   * A command after which this process may carry the turn, under a new carrier: a start, an approval, an expiry, a takeover. The lease
   * stands before the append that names it. Where the outcome is unknown the append may still be stored, so the lease is left to lapse.
   */
  async carry(
    conversation: ConversationIdentity,
    turnId: string,
    carrier: string,
    command: ConversationCommand,
    context: CommandContext = { actor: OURSELVES, correlationId: turnId },
  ): Promise<Handled> {
    await this.options.leases.insert(carrier, conversation.conversationId, turnId);
    const result = await this.write(conversation, command, context);
    if (!this.isCarrying(carrier)) await this.options.leases.delete([carrier]);
    return result;
  }

  /** Any other command. Whatever its events name is done here. */
  async write(
    conversation: ConversationIdentity,
    command: ConversationCommand,
    context: CommandContext,
    options: WriteOptions = {},
  ): Promise<Handled> {
    return this.options.writer.handle(conversation, command, context, {
      ...options,
      onStored: (stored, requests) => {
        this.stored(conversation, command, context, stored, requests);
        options.onStored?.(stored, requests);
      },
    });
  }

  /** Another process wrote: what this one carries may have ended, or may go on. */
  observe(conversationId: string, { type, data }: ForeignEvent): void {
    const ending = endings[type];
    if (!ending && type !== 'ToolApprovalDecided') return;
    for (const carry of this.carries.all) {
      if (carry.conversation.conversationId !== conversationId) continue;
      if (!ending) this.background(carry, () => this.goOn(carry));
      else if (data['turnId'] === carry.turnId && data['carrier'] !== carry.carrier)
        this.carries.release(carry, ending);
    }
  }

  /** The first of a queue, where no turn runs. Any process may. */
  async startQueued(conversation: ConversationIdentity, state: ActiveConversation): Promise<void> {
    const [first] = state.queue;
    if (!first || this.stopped) return;
    const { turnId } = first;
    await this.options.extraction.beforeTurn(conversation, first);
    const question = await this.options.questionOf(conversation.conversationId, turnId);
    if (question === undefined) return;
    const carrier = this.options.newId();
    const at = this.options.now().toISOString();
    const bounds = this.bounds();
    await this.carry(conversation, turnId, carrier, { type: 'StartQueuedTurn', turnId, carrier, question, at, bounds });
  }

  /** No new turns. Waits until those that run have ended, at most so long, and lets go of the rest: others take them over at once. */
  async stop(graceMs: number): Promise<void> {
    this.stopping.abort();
    const end = performance.now() + graceMs;
    while (this.carries.size && performance.now() < end) await sleep(20);
    const left = this.carries.all;
    for (const carry of left) this.carries.release(carry, 'let_go');
    await this.options.leases.delete(left.map(({ carrier }) => carrier));
  }

  private stored(
    conversation: ConversationIdentity,
    command: ConversationCommand,
    context: CommandContext,
    stored: Stored,
    requests: ReadonlyMap<string, AssembledRequest>,
  ): void {
    const { conversationId } = conversation;
    const { events, position, state } = stored;
    this.options.paths.put(conversationId, events);
    for (const [nodeId, { placed }] of requests) this.options.paths.place(conversationId, nodeId, placed);
    for (const event of events) this.options.feed.event(conversationId, { ...event, position });
    if (state.status !== 'active') return;
    const carry = this.carryOf(conversation, command, context, events);
    for (const event of events) {
      this.act(carry, event, state, requests);
      if (event.type === 'TurnCompleted' && !this.stopped)
        this.options.extraction.afterTurn(conversation, event.data.turnId);
    }
    if (carry && carrierOf(state.running) !== carry.carrier)
      this.carries.release(carry, state.running ? 'waiting' : 'completed');
    else if (carry && stored.more) this.goOnAfterFacts(carry, stored.more.cause);
    if (state.running) return;
    if (state.queue.length)
      this.startQueued(conversation, state).catch((error: unknown) => this.options.events.broken(null, error));
    else if (carry && !this.stopped) this.afterTurn(conversation, carry.turnId, state);
  }

  private afterTurn(conversation: ConversationIdentity, turnId: string, { turns }: ActiveConversation): void {
    const version = turns.get(turnId)?.start?.assistantVersion;
    if (version !== undefined) this.options.context.afterTurn(conversation, version);
  }

  /** The carry under which these events were appended: a new one where they name it. */
  private carryOf(
    conversation: ConversationIdentity,
    command: ConversationCommand,
    context: CommandContext,
    events: Stored['events'],
  ): Carry | undefined {
    const named = events.find((event) => event.type === 'TurnStarted' || event.type === 'TurnTakenOver');
    if (!named) return 'carrier' in command ? this.carries.get(command.carrier) : undefined;
    const { turnId, carrier } = named.data;
    if (command.type === 'TakeOverTurn') this.options.events.takenOver(turnId);
    return this.carries.open(conversation, turnId, carrier, context);
  }

  /** Does what one of our own events names. */
  private act(
    carry: Carry | undefined,
    event: Stored['events'][number],
    state: ActiveConversation,
    requests: ReadonlyMap<string, AssembledRequest>,
  ): void {
    const { calls, tools } = this.options;
    switch (event.type) {
      case 'CallRequested': {
        const { nodeId } = event.data;
        if (carry) this.background(carry, () => calls.run(carry, nodeId, requests.get(nodeId)?.body, state, this));
        return;
      }
      case 'CallAttemptFailed':
        // A takeover's: the call that was out is made again. Any other attempt's caller is still at it.
        if (carry && event.data.reason === 'interrupted')
          this.background(carry, () => calls.run(carry, event.data.nodeId, undefined, state, this));
        return;
      case 'ToolExecutionStarted':
        if (carry) this.background(carry, () => tools.run(carry, event.data, state, this));
        return;
      case 'TurnCancelled':
      case 'TurnFailed':
        this.releaseTurn(event.data.turnId, event.type === 'TurnFailed' ? 'failed' : 'cancelled');
        return;
      default:
        return;
    }
  }

  private releaseTurn(turnId: string, status: 'failed' | 'cancelled'): void {
    for (const carry of this.carries.all) if (carry.turnId === turnId) this.carries.release(carry, status);
  }

  /** Only the facts were stored. Goes on from them; where the rest can't be made at all, the turn fails. */
  private goOnAfterFacts(carry: Carry, cause: unknown): void {
    this.background(carry, async () => {
      let last = cause;
      let rooms = 0;
      for (let tries = 0; tries < GO_ON_PAUSES_MS.length;) {
        if (last instanceof ContextTooLarge && rooms++ < MOST_ROOMS && (await this.makeRoom(carry, last))) {
          // The same request again, with less before it; where it fails again, it says which summaries failed.
        } else if (last instanceof RequestImpossible) return this.fail(carry, last.reason, last.message);
        else await sleep(GO_ON_PAUSES_MS[tries++]);
        try {
          return await this.goOn(carry);
        } catch (error) {
          last = error;
        }
      }
      this.options.events.broken(carry.turnId, last);
      return this.fail(carry, 'internal', 'The next request could not be put together.');
    });
  }

  private async makeRoom(carry: Carry, tooLarge: ContextTooLarge): Promise<boolean> {
    try {
      return await this.options.context.makeRoom(carry.conversation, carry.turnId, tooLarge);
    } catch (error) {
      this.options.events.broken(carry.turnId, error);
      return false;
    }
  }

  private async goOn(carry: Carry): Promise<void> {
    const command = { type: 'GoOn', carrier: carry.carrier, bounds: this.bounds() } as const;
    await this.write(carry.conversation, command, carry.context);
  }

  private async fail(carry: Carry, reason: FailureReason, detail: string): Promise<void> {
    const command = { type: 'FailTurn', carrier: carry.carrier, reason, detail } as const;
    await this.write(carry.conversation, command, carry.context, { persist: 'until-stored' });
  }

  private background(carry: Carry, work: () => Promise<void>): void {
    work().catch((error: unknown) => this.carries.abandon(carry, error));
  }
}

/** What an event of another process means for a carry of the same turn. */
const endings: Readonly<Record<string, 'taken_over' | 'cancelled' | 'failed' | undefined>> = {
  TurnTakenOver: 'taken_over',
  TurnCancelled: 'cancelled',
  TurnFailed: 'failed',
};
