import { setMaxListeners } from 'node:events';
import {
  checkAppend,
  type EventUnreadable,
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

/** What a subscription finds behind a position, and the end of the log that it goes by. */
interface Look {
  readonly batch: SubscriptionBatch;
  readonly end: Position;
}

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
    this.news = new News(pool, this.limits, this.stopped.signal, () => this.commits.backend);
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
      let end = -1n;
      let doubts = -1;
      for (let first = true; !over.aborted; first = false) {
        const news = this.news.next();
        // In doubt the log is asked where it ends. Else it is known: what this process appended, and what is left of the last look.
        if (doubts === this.news.doubts && end < this.news.committed) end = this.news.committed;
        const known = doubts === this.news.doubts ? end : undefined;
        doubts = this.news.doubts;
        const look =
          known === undefined || known > position ? await this.patientLook(position, known, options, over) : undefined;
        if (over.aborted) return;
        if (look) end = look.end;
        if (!look || (look.batch.position === position && !first)) {
          await news;
          continue;
        }
        position = look.batch.position;
        yield look.batch;
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
  private async patientLook(
    after: Position,
    end: Position | undefined,
    options: SubscribeOptions,
    over: AbortSignal,
  ): Promise<Look | undefined> {
    for (let failures = 0; !over.aborted; failures++) {
      try {
        return await this.look(after, end ?? (await this.pages.lastPosition()), options);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        await pause(backoffMs(failures), over);
      }
    }
    return undefined;
  }

  /**
   * The end is known first: what the filter keeps back up to there is known not to come any more, whatever is appended meanwhile. An
   * append that the page cuts in two is read to its end.
   */
  private async look(after: Position, end: Position, { filter }: SubscribeOptions): Promise<Look> {
    if (end <= after) return { batch: { events: [], position: after, caughtUp: true }, end };
    const page = await this.pages.after(after, { filter, upTo: end });
    if (page.unreadable) return { batch: upToUnreadable(page.events, page.unreadable), end };
    if (!page.more || !page.end) return { batch: { events: page.events, position: end, caughtUp: true }, end };
    const position = page.end.position + BigInt(page.end.rest);
    const events = [...page.events];
    for (let from = page.end.position, more = page.end.rest > 0; more;) {
      const page = await this.pages.after(from, { filter, upTo: position });
      events.push(...page.events);
      if (page.unreadable) return { batch: upToUnreadable(events, page.unreadable), end };
      more = page.more && page.end !== undefined;
      from = page.end?.position ?? position;
    }
    return { batch: { events, position, caughtUp: position === end }, end };
  }
}

/** What stands before it is handed over first. */
function upToUnreadable(events: readonly StoredEvent[], unreadable: EventUnreadable): SubscriptionBatch {
  const last = events.at(-1);
  if (!last) throw unreadable;
  return { events, position: last.position, caughtUp: false };
}
