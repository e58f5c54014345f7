import {
  EventUnreadable,
  parseStored,
  StoreUnavailable,
  type EventFilter,
  type ReadAllOptions,
  type ReadStreamOptions,
  type StoredEvent,
} from '@palimpsest/event-store';
import type { Pool, QueryConfig } from 'pg';
import { expandJson } from './compact-json';
import { backoffMs, isTransient, pause } from './failures';
import type { PostgresEventStoreLimits } from './limits';

type Direction = 'forwards' | 'backwards';

interface Row {
  position: string;
  stream: string;
  revision: string;
  id: string;
  type: string;
  metadata: Buffer;
  data: Buffer;
  created_at: Date;
  rest: number;
  /** Bytes of the page up to this event, itself included. */
  bytes: string;
}

export interface Page {
  /** Up to one that is unreadable, if there is one. */
  readonly events: readonly StoredEvent[];
  readonly unreadable: EventUnreadable | undefined;
  /** Position of the last event, readable or not, and how many of its append follow. */
  readonly end: { readonly position: bigint; readonly rest: number } | undefined;
  /** False when the page reached the end of what there was to read. */
  readonly more: boolean;
}

/** Tries of one read before it gives up; a page that was read again is the same page. */
const READ_TRIES = 4;

/**
 * A page is cut by the number of its events and by their bytes: it ends with the event that passes `pageBytes`. The names are looked up row
 * by row, so that the plan is a walk along one index whatever the statistics say; large values are fetched for the rows of the page alone.
 */
function pageSql(where: string, order: string): string {
  return `
    select p.position::text, p.stream, p.revision::text, p.id::text, p.type, p.metadata, p.data, p.created_at, p.rest, p.bytes::text
    from (
      select e.*, sum(octet_length(e.data) + octet_length(e.metadata)) over (order by ${order} rows unbounded preceding) as bytes
      from (
        select e.position, n.name as stream, e.revision, e.id, e.type, e.metadata, e.data, e.created_at, e.rest
        from event_log.events e cross join lateral (select s.name from event_log.streams s where s.id = e.stream offset 0) n
        where ${where}
        order by ${order}
        limit $1::integer
      ) e
    ) p
    where p.bytes - octet_length(p.data) - octet_length(p.metadata) <= $2::bigint
    order by ${order.replaceAll('e.', 'p.')}`;
}

const passesFilter = `
  ($4::text[] is null or exists (select from unnest($4::text[]) as prefix where starts_with(n.name, prefix)))
  and ($5::text[] is null or e.type = any ($5::text[]))`;
const ofStream = `e.stream = (select s.id from event_log.streams s where s.name = $3::text)`;

const sql = {
  stream: {
    forwards: pageSql(`${ofStream} and e.revision >= $4::bigint`, 'e.revision'),
    backwards: pageSql(`${ofStream} and e.revision <= $4::bigint`, 'e.revision desc'),
  },
  all: {
    forwards: pageSql(`e.position > $3::bigint and e.position <= $6::bigint and ${passesFilter}`, 'e.position'),
    backwards: pageSql(`e.position < $3::bigint and e.position >= $6::bigint and ${passesFilter}`, 'e.position desc'),
  },
};

/** More than any position or revision, less than int8 can hold. */
const BEYOND_ALL = 2n ** 62n;

/** Reads the log in pages by keyset: each page begins after the last event of the one before. */
export class Pages {
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(
    private readonly pool: Pool,
    private readonly limits: PostgresEventStoreLimits,
    private readonly stopped: AbortSignal,
  ) {}

  async *stream(stream: string, options: ReadStreamOptions): AsyncGenerator<StoredEvent> {
    const { direction = 'forwards', limit = Infinity } = options;
    let from = options.from ?? (direction === 'forwards' ? 0n : BEYOND_ALL);
    let left = limit;
    while (left > 0) {
      const page = await this.page(sql.stream[direction], left, [stream, within(from)]);
      yield* page.events;
      if (page.unreadable) throw page.unreadable;
      left -= page.events.length;
      const last = page.events.at(-1);
      if (!page.more || !last) return;
      from = last.revision + (direction === 'forwards' ? 1n : -1n);
    }
  }

  async *all(options: ReadAllOptions): AsyncGenerator<StoredEvent> {
    const { direction = 'forwards', limit = Infinity, filter } = options;
    let after = options.after ?? (direction === 'forwards' ? -1n : BEYOND_ALL);
    let left = limit;
    while (left > 0) {
      const page = await this.after(after, { direction, filter, limit: left });
      yield* page.events;
      if (page.unreadable) throw page.unreadable;
      left -= page.events.length;
      if (!page.more || !page.end) return;
      after = page.end.position;
    }
  }

  /** The page after a position, up to another one, itself included. */
  after(
    position: bigint,
    options: { direction?: Direction; filter?: EventFilter | undefined; limit?: number; upTo?: bigint } = {},
  ): Promise<Page> {
    const { direction = 'forwards', filter, limit = Infinity } = options;
    const upTo = options.upTo ?? (direction === 'forwards' ? BEYOND_ALL : -1n);
    return this.page(sql.all[direction], limit, [
      within(position),
      filter?.streamPrefixes ?? null,
      filter?.types ?? null,
      within(upTo),
    ]);
  }

  async lastPosition(): Promise<bigint> {
    const rows = await this.query<{ position: string }>(
      `select e.position::text from event_log.events e order by e.position desc limit 1`,
      [],
    );
    return BigInt(rows[0]?.position ?? -1);
  }

  /** Settles when no query is under way. */
  async idle(): Promise<void> {
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
  }

  private async page(text: string, limit: number, values: readonly unknown[]): Promise<Page> {
    const size = Math.min(limit, this.limits.pageEvents);
    const rows = await this.query<Row>(text, [size, this.limits.pageBytes, ...values]);
    const last = rows.at(-1);
    return {
      ...readable(rows),
      end: last && { position: BigInt(last.position), rest: last.rest },
      more: rows.length === size || Number(last?.bytes ?? 0) > this.limits.pageBytes,
    };
  }

  private async once<R extends object>(text: string, values: readonly unknown[]): Promise<R[]> {
    const config: QueryConfig & { query_timeout: number } = {
      text,
      values: [...values],
      query_timeout: this.limits.readTimeoutMs,
    };
    const query = this.pool.query<R>(config);
    this.underWay.add(query);
    try {
      return (await query).rows;
    } finally {
      this.underWay.delete(query);
    }
  }

  /** Unnamed, so that each plan is made for its own parameters. */
  private async query<R extends object>(text: string, values: readonly unknown[]): Promise<R[]> {
    for (let failures = 0; ; failures++) {
      if (this.stopped.aborted) throw new StoreUnavailable('The event store is closed.');
      try {
        return await this.once<R>(text, values);
      } catch (error) {
        if (!isTransient(error)) throw error;
        if (failures + 1 >= READ_TRIES) {
          throw new StoreUnavailable(`The event log cannot be read: ${(error as Error).message}`, { cause: error });
        }
        await pause(backoffMs(failures), this.stopped);
      }
    }
  }
}

function within(place: bigint): string {
  return String(place > BEYOND_ALL ? BEYOND_ALL : place);
}

function readable(rows: readonly Row[]): Pick<Page, 'events' | 'unreadable'> {
  const events: StoredEvent[] = [];
  try {
    for (const row of rows) events.push(toEvent(row));
    return { events, unreadable: undefined };
  } catch (error) {
    if (error instanceof EventUnreadable) return { events, unreadable: error };
    throw error;
  }
}

function toEvent(row: Row): StoredEvent {
  const { stream, id, type } = row;
  const place = { stream, revision: BigInt(row.revision), position: BigInt(row.position), id, type };
  return {
    ...place,
    data: parseStored(
      () => expandJson(row.data),
      () => place,
    ),
    metadata: parseStored(
      () => expandJson(row.metadata),
      () => place,
    ),
    createdAt: row.created_at,
  };
}
