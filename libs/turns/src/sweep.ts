import type { EngineEvents } from './engine-events';
import type { TurnEngine } from './engine';
import { type ConversationIdentity, OURSELVES } from './identity';
import type { Leases } from './leases';
import type { ConversationWriter } from './conversation-writer';
import type { WorkCalls } from './work-calls';
import { StandingFailures } from './standing-failures';
import type { Unfinished, UnfinishedConversations } from './unfinished';

/** A lapsed lease says no more than a missing one; it is kept for whoever looks into what happened. */
const LAPSED_KEPT_MS = 3_600_000;
const CLEAR_EVERY_MS = 600_000;
const LEASES = 'leases';

export interface SweepOptions {
  readonly engine: TurnEngine;
  readonly work: WorkCalls;
  readonly writer: ConversationWriter;
  readonly leases: Leases;
  readonly unfinished: UnfinishedConversations;
  readonly identify: (conversationId: string) => Promise<ConversationIdentity | undefined>;
  readonly events: EngineEvents;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly maxTakeovers: number;
  /** Milliseconds between two sweeps; each with jitter from half to the whole. */
  readonly sweepMs: number;
  /** Milliseconds between two renewals of the leases of what this process carries. */
  readonly renewMs: number;
  readonly leaseMs: number;
}

/**
 * Looks for turns and calls outside a turn that nobody living carries, approvals whose time is over, and queues with no turn running; and renews the leases of this
 * process's own carries. What it finds is a hint: the rules decide each case on a fresh read.
 */
export class Sweep {
  private timers: NodeJS.Timeout[] = [];
  private sweeping: Promise<void> = Promise.resolve();
  /** Monotonic; leases could not be read before this, so nothing is taken over until one lease later. */
  private notBefore = 0;
  /** Monotonic; lapsed leases are cleared away from then on. */
  private clearsAt = 0;
  private readonly failures = new StandingFailures();

  constructor(private readonly options: SweepOptions) {}

  start(): void {
    this.timers = [setInterval(() => void this.renew(), this.options.renewMs)];
    this.schedule();
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers = [];
    await this.sweeping;
  }

  /** One sweep, now. */
  async sweep(): Promise<void> {
    const entries = this.options.unfinished.entries();
    const dead = await this.withoutLease(entries.map(([, work]) => work));
    if (!dead) return;
    for (const [conversationId, work] of entries) await this.look(conversationId, work, dead);
    await this.clearLapsed();
  }

  private schedule(): void {
    const wait = this.options.sweepMs * (0.5 + Math.random() / 2);
    this.timers[1] = setTimeout(() => {
      this.sweeping = this.sweep().catch((error: unknown) => this.options.events.broken(null, error));
      void this.sweeping.then(() => this.timers.length && this.schedule());
    }, wait);
  }

  private async renew(): Promise<void> {
    const began = performance.now();
    const { engine, work, leases, events } = this.options;
    try {
      await leases.renew([...engine.carriers, ...work.carriers]);
      engine.renewed(began);
      this.leasesReached();
    } catch (error) {
      this.failures.failed(LEASES, () => events.leasesLost(error));
    }
  }

  /** Carriers without a living lease, this process's own left out; undefined where leases can't be trusted now. */
  private async withoutLease(work: readonly Unfinished[]): Promise<ReadonlySet<string> | undefined> {
    const { engine, work: calls } = this.options;
    const carriers = work.flatMap(({ carrier, works }) => [...(carrier ? [carrier] : []), ...works.values()]);
    const others = carriers.filter((carrier) => !engine.isCarrying(carrier) && !calls.isCarrying(carrier));
    try {
      const living = await this.options.leases.living(others);
      this.leasesReached();
      if (performance.now() < this.notBefore) return new Set();
      return new Set(others.filter((carrier) => !living.has(carrier)));
    } catch (error) {
      this.notBefore = performance.now() + this.options.leaseMs;
      this.failures.failed(LEASES, () => this.options.events.leasesLost(error));
      return undefined;
    }
  }

  private leasesReached(): void {
    this.failures.mended(LEASES, () => this.options.events.leasesBack());
  }

  /** Rows of carriers that died: nobody else takes them away. */
  private async clearLapsed(): Promise<void> {
    if (performance.now() < this.clearsAt) return;
    await this.options.leases.deleteLapsed(LAPSED_KEPT_MS);
    this.clearsAt = performance.now() + CLEAR_EVERY_MS;
  }

  private async look(conversationId: string, work: Unfinished, dead: ReadonlySet<string>): Promise<void> {
    const now = this.options.now().toISOString();
    const expired = [...work.approvals].filter(([, at]) => at <= now).map(([toolCallId]) => toolCallId);
    const orphan = work.turnId !== null && work.carrier !== null && dead.has(work.carrier);
    const waiting = work.turnId === null && work.queued.length > 0;
    const left = [...work.works].filter(([, carrier]) => dead.has(carrier));
    if (!expired.length && !orphan && !waiting && !left.length) return;
    try {
      const conversation = await this.options.identify(conversationId);
      if (!conversation) return;
      for (const toolCallId of expired) await this.expire(conversation, work.turnId ?? '', toolCallId);
      if (orphan && work.turnId) await this.takeOver(conversation, work.turnId, work.carrier);
      if (waiting) await this.startQueued(conversation);
      for (const [nodeId, lapsed] of left) await this.closeWork(conversation, nodeId, lapsed);
      this.failures.mended(conversationId);
    } catch (error) {
      this.failures.failed(conversationId, () => this.options.events.broken(work.turnId, error));
    }
  }

  private async takeOver(conversation: ConversationIdentity, turnId: string, lapsed: string | null): Promise<void> {
    const { engine, maxTakeovers, writer } = this.options;
    const { state } = await writer.read(conversation.conversationId, conversation.tenantId);
    // A turn that waits for a person has no carrier and needs none.
    if (state.status !== 'active' || !state.running || state.running.phase === 'waiting') return;
    const carrier = this.options.newId();
    const command = {
      type: 'TakeOverTurn',
      carrier,
      lapsed,
      maxTakeovers,
      bounds: engine.bounds(),
    } as const;
    await engine.carry(conversation, turnId, carrier, command);
  }

  private async expire(conversation: ConversationIdentity, turnId: string, toolCallId: string): Promise<void> {
    const carrier = this.options.newId();
    const command = { type: 'ExpireApproval', toolCallId, carrier, bounds: this.options.engine.bounds() } as const;
    await this.options.engine.carry(conversation, turnId, carrier, command);
  }

  /** Whatever wanted it may ask again, with a new node. */
  private async closeWork(conversation: ConversationIdentity, nodeId: string, lapsed: string): Promise<void> {
    const command = { type: 'CloseWork', nodeId, lapsed } as const;
    await this.options.engine.write(conversation, command, { actor: OURSELVES, correlationId: nodeId });
  }

  private async startQueued(conversation: ConversationIdentity): Promise<void> {
    const { state } = await this.options.writer.read(conversation.conversationId, conversation.tenantId);
    if (state.status === 'active' && !state.running) await this.options.engine.startQueued(conversation, state);
  }
}
