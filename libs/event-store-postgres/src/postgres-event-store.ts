import { setMaxListeners } from 'node:events';
import {
  checkAppend,
  StoreUnavailable,
  type AppendOutcome,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  type StoredEvent,
  type SubscribeOptions,
  type SubscriptionBatch,
} from '@palimpsest/event-store';
import type { Pool } from 'pg';
import { toAppend } from './append-queries';
import { backoffMs, pause } from './failures';
import { GroupCommit } from './group-commit';
import { defaultLimits, type PostgresEventStoreLimits } from './limits';
import { News } from './news';
import { Pages } from './pages';
import { eventLogSchema, MIGRATE_LOCK } from './schema';

/**
 * The event log in Postgres. It keeps one connection of the pool for appends and, once somebody subscribes, one that listens; reads take
 * theirs for a page at a time. The pool stays the caller's: close the store first, then end the pool. Several processes may use one log.
 */
export class PostgresEventStore implements EventStore {
  private readonly limits: PostgresEventStoreLimits;
  private readonly stopped = new AbortController();
  private readonly news: News;
  private readonly commits: GroupCommit;
  private readonly pages: Pages;

  constructor(pool: Pool, limits: Partial<PostgresEventStoreLimits> = {}) {
    this.limits = { ...defaultLimits, ...limits };
    // Each subscription listens for the end.
    setMaxListeners(0, this.stopped.signal);
    this.news = new News(pool, this.limits, this.stopped.signal);
    this.commits = new GroupCommit(pool, this.limits, (position) => this.news.tell(position));
    this.pages = new Pages(pool, this.limits, this.stopped.signal);
  }

  /** Makes the log's schema where it is not there yet. Several processes may do so at once. */
  static async migrate(pool: Pool): Promise<void> {
    // One simple query is one transaction; the lock keeps two of them from making the same schema side by side.
    await pool.query(`select pg_advisory_xact_lock(${MIGRATE_LOCK});${eventLogSchema}`);
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendOutcome> {
    return this.commits.append(toAppend(stream, expected, checkAppend(stream, expected, events)));
  }

  readStream(stream: string, options: ReadStreamOptions = {}): AsyncIterable<StoredEvent> {
    return this.pages.stream(stream, options);
  }

  readAll(options: ReadAllOptions = {}): AsyncIterable<StoredEvent> {
    return this.pages.all(options);
  }

  async *subscribe(options: SubscribeOptions = {}): AsyncIterable<SubscriptionBatch> {
    const over = options.signal ? AbortSignal.any([options.signal, this.stopped.signal]) : this.stopped.signal;
    const wake = (): void => this.news.wake();
    over.addEventListener('abort', wake);
    this.news.join();
    try {
      let position = options.after ?? -1n;
      let first = true;
      while (!over.aborted) {
        const news = this.news.next();
        const batch = await this.patientBatchAfter(position, options, over);
        if (over.aborted || !batch) return;
        if (first || batch.position > position) {
          first = false;
          position = batch.position;
          yield batch;
        } else {
          await news;
        }
      }
    } finally {
      this.news.leave();
      over.removeEventListener('abort', wake);
    }
  }

  lastPosition(): Promise<Position> {
    return this.pages.lastPosition();
  }

  async close(): Promise<void> {
    await this.commits.close();
    this.stopped.abort();
    await this.news.close();
    // A pool that is ended forgets who waits for a connection.
    await this.pages.idle();
  }

  /** Tries for as long as it takes; undefined when the subscription is over. */
  private async patientBatchAfter(
    after: Position,
    options: SubscribeOptions,
    over: AbortSignal,
  ): Promise<SubscriptionBatch | undefined> {
    for (let failures = 0; !over.aborted; failures++) {
      try {
        return await this.batchAfter(after, options);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        await pause(backoffMs(failures), over);
      }
    }
    return undefined;
  }

  /**
   * The end is asked for first: what the filter keeps back up to there is known not to come any more, whatever is appended meanwhile. An
   * append that the page cuts in two is read to its end.
   */
  private async batchAfter(after: Position, { filter }: SubscribeOptions): Promise<SubscriptionBatch> {
    const last = await this.pages.lastPosition();
    if (last <= after) return { events: [], position: after, caughtUp: true };
    const page = await this.pages.after(after, { filter, upTo: last });
    if (!page.more || !page.end) return { events: page.events, position: last, caughtUp: true };
    const position = page.end.position + BigInt(page.end.rest);
    const tail = page.end.rest > 0 ? await this.restOf(page.end.position, position, filter) : [];
    return { events: [...page.events, ...tail], position, caughtUp: position === last };
  }

  private async restOf(after: Position, upTo: Position, filter: SubscribeOptions['filter']): Promise<StoredEvent[]> {
    const events: StoredEvent[] = [];
    for (let from = after, more = true; more;) {
      const page = await this.pages.after(from, { filter, upTo });
      events.push(...page.events);
      more = page.more && page.end !== undefined;
      from = page.end?.position ?? upTo;
    }
    return events;
  }
}
