import {
  type ActiveConversation,
  type Bounds,
  carrierOf,
  type ConversationCommand,
  type EventOf,
  type NodeId,
} from '@palimpsest/conversation';
import type { OpenedEvent } from '@palimpsest/context';
import type { ConversationRecord } from '@palimpsest/read-models';
import { type AssembledRequest, RequestTooLarge } from './assembly';
import { Carry, type TurnWriter } from './carry';
import type { CommandContext, ConversationWriter, Handled, Stored, WriteOptions } from './conversation-writer';
import type { EngineEvents } from './engine-events';
import type { ConversationIdentity } from './identity';
import type { Leases } from './leases';
import type { ModelCalls } from './model-calls';
import type { Paths } from './paths';
import type { ToolRuns } from './tool-runs';
import type { TurnFeed } from './turn-feed';

/** Named limits of a process that carries turns. */
export interface EngineLimits {
  readonly maxRunningTurns: number;
  readonly maxRunningTurnsPerTenant: number;
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
}

export type Begun =
  | Handled
  | {
      readonly ok: false;
      readonly refusal: { readonly code: 'too_many_turns'; readonly running: number; readonly limit: number };
    };

/** Commands that make a carry: who appends one of them carries the turn from then on. */
export type CarryingCommand = Extract<ConversationCommand, { type: 'StartTurn' | 'EditTurn' | 'RegenerateTurn' }>;

/**
 * Carries turns: appends, and once an append is known to be stored does what its own events name, and nobody else's. Moves forward only,
 * and is never rebuilt.
 */
export class TurnEngine implements TurnWriter {
  private readonly carries = new Map<string, Carry>();
  /** Places taken by starts that are not stored yet, by tenant. */
  private readonly starting = new Map<string, number>();
  private stopping = false;

  constructor(private readonly options: EngineOptions) {}

  get running(): number {
    return this.carries.size;
  }

  /** Carriers whose leases are to be renewed. */
  get carriers(): readonly string[] {
    return [...this.carries.keys()];
  }

  /** Leases were renewed by a statement that began at this monotonic instant. */
  renewed(at: number): void {
    for (const carry of this.carries.values()) carry.renewedAt = Math.max(carry.renewedAt, at);
  }

  isCarrying(carrier: string): boolean {
    return this.carries.has(carrier);
  }

  bounds(): Bounds {
    const { maxRounds, approvalMs } = this.options.limits;
    return { maxRounds, approvalsExpireAt: new Date(this.options.now().getTime() + approvalMs).toISOString() };
  }

  /** Starts a turn for a client. The lease stands before the append that names its carrier. */
  async begin(conversation: ConversationIdentity, command: CarryingCommand, actor: string): Promise<Begun> {
    const full = this.full(conversation.tenantId);
    if (full) return { ok: false, refusal: { code: 'too_many_turns', ...full } };
    this.reserve(conversation.tenantId, 1);
    try {
      return await this.carry(conversation, command.turnId, command.carrier, command, {
        actor,
        correlationId: command.turnId,
      });
    } finally {
      this.reserve(conversation.tenantId, -1);
    }
  }

  /** A command after which a turn may go on under a new carrier: an approval, an expiry, a takeover, a queued turn's start. */
  async carry(
    conversation: ConversationIdentity,
    turnId: string,
    carrier: string,
    command: ConversationCommand,
    context: CommandContext,
  ): Promise<Handled> {
    await this.options.leases.insert(carrier, conversation.conversationId, turnId);
    try {
      const result = await this.write(conversation, command, context);
      if (!this.carries.has(carrier)) await this.options.leases.delete([carrier]);
      return result;
    } catch (error) {
      // The outcome may be unknown, and the append still be stored: the lease then lapses by itself.
      if (!this.carries.has(carrier)) this.options.events.broken(turnId, error);
      throw error;
    }
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
      onStored: (stored, requests) => this.stored(conversation, command, context, stored, requests),
    });
  }

  /** Another process wrote: what this one carries may have ended, or may go on. */
  observe(
    conversationId: string,
    event: { readonly type: string; readonly data: { readonly [key: string]: unknown } },
  ): void {
    if (
      event.type !== 'TurnTakenOver' &&
      event.type !== 'TurnCancelled' &&
      event.type !== 'TurnFailed' &&
      event.type !== 'ToolApprovalDecided'
    )
      return;
    for (const carry of this.carries.values()) {
      if (carry.conversation.conversationId !== conversationId) continue;
      if (event.type === 'ToolApprovalDecided') this.goOn(carry);
      else if (event.data['turnId'] === carry.turnId && event.data['carrier'] !== carry.carrier)
        this.release(
          carry,
          event.type === 'TurnTakenOver' ? 'taken_over' : event.type === 'TurnFailed' ? 'failed' : 'cancelled',
        );
    }
  }

  /** Aborts nothing: waits until the turns have ended, at most so long, and then lets go of them. Leases are released at the end. */
  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    const end = performance.now() + graceMs;
    while (this.carries.size && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
    const left = [...this.carries.values()];
    for (const carry of left) this.release(carry, 'let_go');
    await this.options.leases.delete(left.map((carry) => carry.carrier));
  }

  get stopped(): boolean {
    return this.stopping;
  }

  private stored(
    conversation: ConversationIdentity,
    command: ConversationCommand,
    context: CommandContext,
    stored: Stored,
    requests: ReadonlyMap<string, AssembledRequest>,
  ): void {
    const { conversationId } = conversation;
    this.options.paths.put(conversationId, stored.events as readonly OpenedEvent[]);
    for (const [nodeId, { placed }] of requests) this.options.paths.place(conversationId, nodeId, placed);
    for (const event of stored.events)
      this.options.feed.event(conversationId, { ...event, position: stored.position } as ConversationRecord);
    if (stored.state.status === 'absent') return;
    this.act(conversation, command, context, stored, stored.state, requests);
  }

  private act(
    conversation: ConversationIdentity,
    command: ConversationCommand,
    context: CommandContext,
    stored: Stored,
    state: ActiveConversation,
    requests: ReadonlyMap<string, AssembledRequest>,
  ): void {
    const named = stored.events.find((event) => event.type === 'TurnStarted' || event.type === 'TurnTakenOver');
    if (named?.type === 'TurnTakenOver' && command.type === 'TakeOverTurn')
      this.options.events.takenOver(named.data.turnId);
    const carry = named
      ? this.open(conversation, named.data.turnId, named.data.carrier, context)
      : this.carryOf(command);
    for (const event of stored.events) {
      if (event.type === 'CallRequested') this.call(carry, event.data.nodeId, requests.get(event.data.nodeId), state);
      else if (event.type === 'CallAttemptFailed' && event.data.reason === 'interrupted')
        this.call(carry, event.data.nodeId, undefined, state);
      else if (event.type === 'ToolExecutionStarted') this.runTool(carry, event.data, state);
      else if (event.type === 'CallSucceeded' || event.type === 'CallFailed')
        this.options.feed.ended(event.data.nodeId);
      else if (event.type === 'TurnCancelled' || event.type === 'TurnFailed')
        this.releaseTurn(event.data.turnId, event.type === 'TurnFailed' ? 'failed' : 'cancelled');
    }
    if (carry && carrierOf(state.running) !== carry.carrier)
      this.release(carry, state.running ? 'waiting' : 'completed');
    else if (carry && stored.more) this.afterFacts(carry, stored.more.cause);
    if (!state.running && state.queue.length)
      this.startQueued(conversation, state).catch((error: unknown) => this.options.events.broken(null, error));
  }

  /** Only the facts were stored: go on, or, where the rest can't be made at all, fail. */
  private afterFacts(carry: Carry, cause: unknown): void {
    if (cause instanceof RequestTooLarge) this.fail(carry, 'request_too_large', cause.message);
    else this.fail(carry, 'internal', 'The next request could not be put together.', cause);
  }

  private fail(carry: Carry, reason: 'request_too_large' | 'internal', detail: string, cause?: unknown): void {
    if (cause !== undefined) this.options.events.broken(carry.turnId, cause);
    this.background(carry, async () => {
      await this.write(
        carry.conversation,
        { type: 'FailTurn', carrier: carry.carrier, reason, detail },
        carry.context,
        { persist: 'until-stored' },
      );
    });
  }

  private goOn(carry: Carry): void {
    this.background(carry, async () => {
      await this.write(
        carry.conversation,
        { type: 'GoOn', carrier: carry.carrier, bounds: this.bounds() },
        carry.context,
      );
    });
  }

  /** The first of a queue, where no turn runs. Any process may. */
  async startQueued(conversation: ConversationIdentity, state: ActiveConversation): Promise<void> {
    const [first] = state.queue;
    if (!first || this.stopping) return;
    const { turnId } = first;
    const question = await this.options.questionOf(conversation.conversationId, turnId);
    if (question === undefined) return;
    const carrier = this.options.newId();
    const at = this.options.now().toISOString();
    const command: ConversationCommand = {
      type: 'StartQueuedTurn',
      turnId,
      carrier,
      question,
      at,
      bounds: this.bounds(),
    };
    await this.carry(conversation, turnId, carrier, command, { actor: 'palimpsest', correlationId: turnId });
  }

  private call(
    carry: Carry | undefined,
    nodeId: NodeId,
    request: AssembledRequest | undefined,
    state: ActiveConversation,
  ): void {
    if (!carry) return;
    this.background(carry, () => this.options.calls.run(carry, nodeId, request?.body, state, this));
  }

  private runTool(
    carry: Carry | undefined,
    start: EventOf<'ToolExecutionStarted'>['data'],
    state: ActiveConversation,
  ): void {
    if (!carry) return;
    this.background(carry, () => this.options.tools.run(carry, start, state, this));
  }

  private background(carry: Carry, work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      this.options.events.broken(carry.turnId, error);
      // A carry whose code threw is not renewed: its lease lapses, and a living process takes the turn over.
      this.carries.delete(carry.carrier);
      this.options.events.turnsRunning(this.carries.size);
    });
  }

  private open(conversation: ConversationIdentity, turnId: string, carrier: string, { actor }: CommandContext): Carry {
    const carry = new Carry(carrier, conversation, turnId, actor);
    this.carries.set(carrier, carry);
    this.options.events.turnStarted(turnId);
    this.options.events.turnsRunning(this.carries.size);
    return carry;
  }

  private carryOf(command: ConversationCommand): Carry | undefined {
    return 'carrier' in command ? this.carries.get(command.carrier) : undefined;
  }

  private releaseTurn(turnId: string, status: 'failed' | 'cancelled'): void {
    for (const carry of this.carries.values()) if (carry.turnId === turnId) this.release(carry, status);
  }

  /** The turn ended, waits, or is another's. What still runs for it outside is aborted, but for tools with an effect. */
  private release(carry: Carry, status: Parameters<EngineEvents['turnEnded']>[1]): void {
    if (!this.carries.delete(carry.carrier)) return;
    carry.abort.abort(status);
    this.options.events.turnEnded(carry.turnId, status, Math.round(performance.now() - carry.startedAt));
    this.options.events.turnsRunning(this.carries.size);
    this.options.leases
      .delete([carry.carrier])
      .catch((error: unknown) => this.options.events.broken(carry.turnId, error));
  }

  private full(tenantId: string): { running: number; limit: number } | undefined {
    const { maxRunningTurns, maxRunningTurnsPerTenant } = this.options.limits;
    const all = this.carries.size + [...this.starting.values()].reduce((sum, count) => sum + count, 0);
    if (all >= maxRunningTurns) return { running: all, limit: maxRunningTurns };
    const own =
      [...this.carries.values()].filter((carry) => carry.conversation.tenantId === tenantId).length +
      (this.starting.get(tenantId) ?? 0);
    return own >= maxRunningTurnsPerTenant ? { running: own, limit: maxRunningTurnsPerTenant } : undefined;
  }

  private reserve(tenantId: string, change: 1 | -1): void {
    const count = (this.starting.get(tenantId) ?? 0) + change;
    if (count) this.starting.set(tenantId, count);
    else this.starting.delete(tenantId);
  }
}
