import { Carry } from './carry';
import type { CommandContext } from './conversation-writer';
import type { EngineEvents } from './engine-events';
import type { ConversationIdentity } from './identity';
import type { Leases } from './leases';

export interface CarryLimits {
  readonly maxRunningTurns: number;
  readonly maxRunningTurnsPerTenant: number;
}

export interface Full {
  readonly running: number;
  readonly limit: number;
}

/** The turns that this process carries, and the places for them. */
export class Carries {
  private readonly held = new Map<string, Carry>();
  /** Places taken by starts that are not stored yet, by tenant. */
  private readonly starting = new Map<string, number>();

  constructor(
    private readonly limits: CarryLimits,
    private readonly leases: Leases,
    private readonly events: EngineEvents,
  ) {}

  get size(): number {
    return this.held.size;
  }

  get all(): readonly Carry[] {
    return [...this.held.values()];
  }

  get(carrier: string): Carry | undefined {
    return this.held.get(carrier);
  }

  open(conversation: ConversationIdentity, turnId: string, carrier: string, { actor }: CommandContext): Carry {
    const carry = new Carry(carrier, conversation, turnId, actor);
    this.held.set(carrier, carry);
    this.events.turnStarted(turnId);
    this.events.turnsRunning(this.held.size);
    return carry;
  }

  /** The turn ended, waits, or is another's. What still runs for it outside is aborted, but for tools with an effect. */
  release(carry: Carry, status: Parameters<EngineEvents['turnEnded']>[1]): void {
    if (!this.held.delete(carry.carrier)) return;
    carry.abort.abort(status);
    this.events.turnEnded(carry.turnId, status, Math.round(performance.now() - carry.startedAt));
    this.events.turnsRunning(this.held.size);
    this.leases.delete([carry.carrier]).catch((error: unknown) => this.events.broken(carry.turnId, error));
  }

  /** A carry whose code threw is not renewed: its lease lapses, and a living process takes the turn over. */
  abandon(carry: Carry, error: unknown): void {
    this.events.broken(carry.turnId, error);
    this.held.delete(carry.carrier);
    this.events.turnsRunning(this.held.size);
  }

  /** Takes a place for a start until `starting` is done; says so where there is none. */
  async inPlace<T>(tenantId: string, starting: () => Promise<T>): Promise<T | { readonly full: Full }> {
    const full = this.full(tenantId);
    if (full) return { full };
    this.reserve(tenantId, 1);
    try {
      return await starting();
    } finally {
      this.reserve(tenantId, -1);
    }
  }

  private full(tenantId: string): Full | undefined {
    const { maxRunningTurns, maxRunningTurnsPerTenant } = this.limits;
    const all = this.held.size + [...this.starting.values()].reduce((sum, count) => sum + count, 0);
    if (all >= maxRunningTurns) return { running: all, limit: maxRunningTurns };
    const held = this.all.filter((carry) => carry.conversation.tenantId === tenantId).length;
    const own = held + (this.starting.get(tenantId) ?? 0);
    return own >= maxRunningTurnsPerTenant ? { running: own, limit: maxRunningTurnsPerTenant } : undefined;
  }

  private reserve(tenantId: string, change: 1 | -1): void {
    const count = (this.starting.get(tenantId) ?? 0) + change;
    if (count) this.starting.set(tenantId, count);
    else this.starting.delete(tenantId);
  }
}
