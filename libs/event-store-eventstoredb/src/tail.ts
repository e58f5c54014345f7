import {
  type AllStreamSubscription,
  ErrorType,
  excludeSystemEvents,
  type Filter,
  type Position as LogPosition,
  type ResolvedEvent,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import {
  type EventFilter,
  type Position,
  StoreUnavailable,
  type SubscribeOptions,
  type SubscriptionBatch,
} from '@palimpsest/event-store';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Batches, type News } from './batches';
import type { Connection } from './connection';
import { backoffMs, explained, isTransient, NoAnswer, pause, typeOf } from './failures';
import { Inflow } from './inflow';
import type { EventStoreDbLimits } from './limits';
import type { Reader } from './reader';
import { toArrived } from './stored-events';

/** Milliseconds that a batch is filled for, while events come. */
const GATHER_MS = 10;

/** What a subscription tells its operator. */
export interface TailLog {
  lost(error: unknown): void;
  found(): void;
}

/** Unknown errors in a row after which a position is taken for one where no event begins. */
const UNKNOWN_TRIES = 3;

/** Follows the log over one subscription after the other, each from where the one before ended. */
export class Tail {
  private failures = 0;
  private unknowns = 0;
  private isFirst = true;
  private position: Position;

  constructor(
    private readonly connection: Connection,
    private readonly reader: Reader,
    private readonly limits: EventStoreDbLimits,
    private readonly log: TailLog,
    private readonly options: Omit<SubscribeOptions, 'signal'>,
    private readonly over: AbortSignal,
  ) {
    this.position = options.after ?? -1n;
  }

  async *batches(): AsyncGenerator<SubscriptionBatch> {
    while (!this.over.aborted) {
      try {
        for await (const batch of this.subscription()) {
          // What came while nobody waited any more belongs to the next reader.
          if (this.over.aborted) return;
          this.position = batch.position;
          this.isFirst = false;
          yield batch;
        }
      } catch (error) {
        if (this.over.aborted) return;
        if (!isTransient(error) && !(error instanceof StoreUnavailable)) throw explained(error);
        this.unknowns = typeOf(error) === ErrorType.UNKNOWN ? this.unknowns + 1 : 0;
        this.log.lost(error);
        await pause(backoffMs(this.failures++), this.over);
      }
    }
  }

  /** One subscription, to its end. */
  private async *subscription(): AsyncGenerator<SubscriptionBatch> {
    const batches = new Batches(this.position, this.options.filter, this.isFirst);
    const inflow = new Inflow<ResolvedEvent | Marker>(this.open(), this.over);
    const watch = new Watch(this.reader, this.options.filter, this.limits);
    // Who subscribes again and again, each time for an instant, gets ahead all the same.
    let isFirst = true;
    try {
      while (!this.over.aborted) {
        const taken = await inflow.take(watch.patienceMs);
        if (this.over.aborted) return;
        if (taken?.ended) throw new NoAnswer(`${this.connection.address} ended a subscription`);
        if (taken) {
          this.heard(watch);
          this.put(batches, taken.items);
          const isAll = isFirst ? inflow.isEmpty : await this.gather(batches, inflow);
          isFirst = false;
          const batch = batches.take(isAll);
          if (batch) yield batch;
        } else {
          const end = await watch.look(batches.position);
          if (end !== undefined) batches.endSeen(end);
          // The look took its time: what came meanwhile goes first, in its place.
          const batch = inflow.isEmpty && batches.take(true);
          if (batch) yield batch;
        }
      }
    } finally {
      inflow.leave();
    }
  }

  private heard(watch: Watch): void {
    watch.heard();
    if (this.failures > 0) this.log.found();
    this.failures = 0;
    this.unknowns = 0;
  }

  /** Fills the batch from what comes without waiting; true when nothing more is at hand. */
  private async gather(batches: Batches, inflow: Inflow<ResolvedEvent | Marker>): Promise<boolean> {
    const end = performance.now() + GATHER_MS;
    while (performance.now() < end) {
      await nextTurn();
      const items = inflow.atHand();
      if (items.length === 0) return true;
      this.put(batches, items);
      const { events, chars } = batches.size;
      if (events >= this.limits.batchEvents || chars >= this.limits.batchChars) return false;
    }
    return false;
  }

  private put(batches: Batches, items: readonly (ResolvedEvent | Marker)[]): void {
    for (const item of items) {
      const news = 'marker' in item ? item.marker : toArrived(item);
      if (news !== undefined) batches.put(news);
    }
  }

  private open(): AllStreamSubscription {
    const after = this.position;
    // Where no event begins nobody can subscribe: all from the start is slow, and right; what was seen is passed over.
    const fromStart = after < 0n || this.unknowns >= UNKNOWN_TRIES;
    // The client tells these beside the events that it still holds. Put among them, they stay in their place.
    const mark = (subscription: AllStreamSubscription, marker: Marker['marker']): void => {
      (subscription as unknown as { push(item: Marker): boolean }).push({ marker });
    };
    const checkpointReached = (subscription: AllStreamSubscription, { commit }: LogPosition): void =>
      mark(subscription, { checkpoint: commit });
    const subscription: AllStreamSubscription = this.connection.client.subscribeToAll({
      fromPosition: fromStart ? START : { commit: after, prepare: after },
      filter: serverFilter(this.options.filter, checkpointReached),
    });
    subscription.on('caughtUp', () => mark(subscription, 'caught_up'));
    subscription.on('fellBehind' as 'caughtUp', () => mark(subscription, 'fell_behind'));
    return subscription;
  }
}

interface Marker {
  readonly marker: Exclude<News, { event: unknown }>;
}

/** Events that the server passes over before it tells how far it is. */
const CHECKPOINT_EVENTS = 32;

/**
 * What the server keeps back. Only by stream: one append is in one stream, so a filter by type could cut it in two; those are ours. An empty
 * prefix is every stream.
 */
function serverFilter(
  { streamPrefixes = [] }: EventFilter = {},
  checkpointReached: (subscription: AllStreamSubscription, position: LogPosition) => void,
): Filter {
  const told = { checkpointInterval: 1, maxSearchWindow: CHECKPOINT_EVENTS, checkpointReached };
  return streamPrefixes.length > 0 && !streamPrefixes.includes('')
    ? streamNameFilter({ prefixes: [...streamPrefixes], ...told })
    : excludeSystemEvents(told);
}

/**
 * Looks after a subscription that is silent. It may have nothing to say, or be dead: some breaks are told to nobody. So the log itself is
 * read, which also tells how far the filter kept all back.
 */
class Watch {
  private quiet: number;
  private missing: { readonly position: Position; readonly since: number } | undefined;

  constructor(
    private readonly reader: Reader,
    private readonly filter: EventFilter | undefined,
    private readonly limits: EventStoreDbLimits,
  ) {
    this.quiet = limits.firstLookMs;
  }

  get patienceMs(): number {
    return this.quiet;
  }

  heard(): void {
    this.quiet = this.limits.firstLookMs;
    this.missing = undefined;
  }

  /** Up to where nothing is missing; undefined where something is. Throws when it has been missing for too long. */
  async look(position: Position): Promise<Position | undefined> {
    this.quiet = Math.min(2 * this.quiet, this.limits.lookMs);
    const last = await this.reader.lastPosition();
    if (last <= position) return position;
    const filter = this.filter ?? {};
    for await (const missing of this.reader.all({ after: position, filter, limit: 1 })) {
      if (missing.position > last) break;
      const now = performance.now();
      if (this.missing?.position !== missing.position) this.missing = { position: missing.position, since: now };
      else if (now - this.missing.since > this.limits.tryTimeoutMs) {
        throw new NoAnswer(`a subscription says nothing of the event at ${missing.position}`);
      }
      return undefined;
    }
    return last;
  }
}
