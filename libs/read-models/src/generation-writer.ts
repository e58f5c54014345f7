import { type EventPlace, type EventStore, filterOf, type Position, type StoredEvent } from '@palimpsest/event-store';
import type { Pool, PoolClient } from 'pg';
import { isInfrastructure, reasonOf, WaitsForStream } from './faults';
import type { Generation } from './generations';
import type { Projection } from './projection';
import { tablesIn } from './tables';

/** A stream that a projection no longer follows, and the event that it could not take. */
export interface Parking extends EventPlace {
  readonly reason: string;
  /** Nothing is wrong with the event: what it rests on is parked, and both are tried again together. */
  readonly waitsFor?: string;
}

export interface GenerationWriterOptions {
  readonly pool: Pool;
  readonly store: Pick<EventStore, 'readStream'>;
  readonly projection: Projection;
  readonly generation: Generation;
  /** Told of each stream that was parked, once that is stored. */
  readonly onParked: (parking: Parking) => void;
}

/** Another process writes it, or it is no longer what it was: was swapped, or dropped. */
export class GenerationLost extends Error {
  override readonly name = 'GenerationLost';
}

/** Streams are read again in steps of so many events. */
const RETRY_EVENTS = 500;

/**
 * Writes one generation of a projection. Rows, checkpoint and what was parked commit together, so a crash between them is a crash before all
 * of them. Made anew with each lock, since what is parked is known from then on.
 */
export class GenerationWriter {
  private parked: ReadonlySet<string> = new Set();
  private reached: Position;
  private rate: number | undefined;
  private wroteAt = performance.now();

  constructor(private readonly options: GenerationWriterOptions) {
    this.reached = options.generation.position;
  }

  get position(): Position {
    return this.reached;
  }

  async open(): Promise<void> {
    const { rows } = await this.options.pool.query<{ stream: string }>(
      `select stream from read.parked where schema = $1::text`,
      [this.options.generation.schema],
    );
    this.parked = new Set(rows.map(({ stream }) => stream));
  }

  /** Writes what stands behind `position`, up to `to`. First in one go; where that fails, so that the events that can't be taken are found. */
  async write(events: readonly StoredEvent[], to: Position): Promise<void> {
    try {
      await this.attempt(events, to, (session, live) => this.apply(session, live));
    } catch (error) {
      if (error instanceof GenerationLost || isInfrastructure(error)) throw error;
      await this.attempt(events, to, (session, live, parking) => this.applyOrPark(session, live, parking));
    }
  }

  /** Goes past an event that can't be read. */
  async passOver(place: EventPlace): Promise<void> {
    const { filter } = this.options.projection;
    const concerns = filterOf(filter)(place) && !this.parked.has(place.stream);
    await this.attempt([], place.position, async (session, _, parking) => {
      if (concerns) await this.park(session, { ...place, reason: 'EventUnreadable' }, parking);
    });
  }

  /**
   * Reads parked streams again that an operator wants to be tried, each from the event that it was parked at; and what waited for one that is
   * parked no more.
   */
  async retry(): Promise<void> {
    const { pool, generation } = this.options;
    const tried = new Set<string>();
    for (;;) {
      const { rows } = await pool.query<{ stream: string; revision: bigint; attempts: number }>(
        `select stream, revision, attempts from read.parked p
         where schema = $1::text and stream <> all($2::text[]) and (retry_requested_at is not null or waits_for is not null and
           not exists (select from read.parked above where above.schema = p.schema and above.stream = p.waits_for))
         order by position limit 1`,
        [generation.schema, [...tried]],
      );
      const [next] = rows;
      if (!next) return;
      tried.add(next.stream);
      await this.retryStream(next.stream, next.revision, next.attempts);
    }
  }

  private async retryStream(stream: string, revision: bigint, attempts: number): Promise<void> {
    const { store, generation, projection } = this.options;
    const passes = filterOf(projection.filter);
    const unpark = (parked: ReadonlySet<string>) => new Set([...parked].filter((each) => each !== stream));
    const was = this.parked;
    this.parked = unpark(was);
    try {
      await this.attempt([], this.reached, async (session, _, parking) => {
        await session.query(`delete from read.parked where schema = $1::text and stream = $2::text`, [
          generation.schema,
          stream,
        ]);
        let step: StoredEvent[] = [];
        const flush = async () => {
          await this.applyOrPark(session, step, parking);
          step = [];
        };
        try {
          for await (const event of store.readStream(stream, { from: revision })) {
            if (event.position > this.reached || parking.has(stream)) break;
            if (passes(event)) step.push(event);
            if (step.length === RETRY_EVENTS) await flush();
          }
          await flush();
        } catch (error) {
          const place = (error as { readonly place?: EventPlace }).place;
          if (!place) throw error;
          await flush();
          if (!parking.has(stream)) await this.park(session, { ...place, ...whyNot(error) }, parking);
        }
        if (parking.has(stream)) await this.countAttempts(session, stream, attempts + 1);
      });
    } catch (error) {
      this.parked = was;
      throw error;
    }
  }

  /** One transaction; what `work` parked counts once it is committed. */
  private async attempt(
    events: readonly StoredEvent[],
    to: Position,
    work: (session: PoolClient, live: readonly StoredEvent[], parking: Map<string, Parking>) => Promise<void>,
  ): Promise<void> {
    const session = await this.options.pool.connect();
    const parking = new Map<string, Parking>();
    let ended: readonly string[];
    try {
      await session.query('begin; set local synchronous_commit = off'); // it can be rebuilt
      await this.moveCheckpoint(session, to, events.length);
      await work(session, this.parked.size ? events.filter((event) => this.isWanted(event)) : events, parking);
      ended = await this.forgetEnded(session, events);
      await session.query('commit');
      session.release();
    } catch (error) {
      session.release(true); // closes the connection, which rolls back
      throw error;
    }
    this.reached = to;
    if (!parking.size && !ended.length) return;
    this.parked = new Set([...this.parked, ...parking.keys()].filter((stream) => !ended.includes(stream)));
    for (const each of parking.values()) this.options.onParked(each);
  }

  private isWanted({ stream, type }: StoredEvent): boolean {
    return !this.parked.has(stream) || this.ends(type);
  }

  private ends(type: string): boolean {
    return this.options.projection.endings?.includes(type) ?? false;
  }

  /** Of a stream that is over nothing is parked any more. */
  private async forgetEnded(session: PoolClient, events: readonly StoredEvent[]): Promise<readonly string[]> {
    if (!this.parked.size) return [];
    const ended = events.filter(({ stream, type }) => this.parked.has(stream) && this.ends(type));
    if (!ended.length) return [];
    const streams = ended.map(({ stream }) => stream);
    await session.query(`delete from read.parked where schema = $1::text and stream = any($2::text[])`, [
      this.options.generation.schema,
      streams,
    ]);
    return streams;
  }

  private async moveCheckpoint(session: PoolClient, to: Position, count: number): Promise<void> {
    const { generation } = this.options;
    const { rowCount } = await session.query(
      `update read.generations set position = $2::bigint, events = events + $3::bigint, rate = $4::real, written_at = now()
       where schema = $1::text and position = $5::bigint and state = $6::text`,
      [generation.schema, to, count, this.rateWith(count), this.reached, generation.state],
    );
    if (rowCount !== 1)
      throw new GenerationLost(
        `${generation.schema} is no longer ${generation.state} at position ${this.reached}: another process wrote, swapped or dropped it.`,
      );
  }

  /** Events per second, of late. */
  private rateWith(count: number): number {
    const now = performance.now();
    const seconds = Math.max(now - this.wroteAt, 1) / 1000;
    this.wroteAt = now;
    const weight = 1 - Math.exp(-seconds / 5);
    this.rate = this.rate === undefined ? count / seconds : this.rate + weight * (count / seconds - this.rate);
    return this.rate;
  }

  private async apply(session: PoolClient, events: readonly StoredEvent[]): Promise<void> {
    const { projection, generation } = this.options;
    if (events.length) await projection.apply(events, tablesIn(generation.schema, session));
  }

  /** Halves what fails, down to the event that fails alone behind all that stand before it. Its stream is parked. */
  private async applyOrPark(
    session: PoolClient,
    given: readonly StoredEvent[],
    parking: Map<string, Parking>,
  ): Promise<void> {
    const events = given.filter(({ stream, type }) => !parking.has(stream) || this.ends(type));
    const [first] = events;
    if (!first) return;
    await session.query('savepoint events');
    try {
      await this.apply(session, events);
      await session.query('release savepoint events');
      return;
    } catch (error) {
      if (isInfrastructure(error)) throw error;
      await session.query('rollback to savepoint events; release savepoint events');
      if (events.length === 1) return this.park(session, { ...first, ...whyNot(error) }, parking);
    }
    const middle = Math.ceil(events.length / 2);
    await this.applyOrPark(session, events.slice(0, middle), parking);
    await this.applyOrPark(session, events.slice(middle), parking);
  }

  private async countAttempts(session: PoolClient, stream: string, attempts: number): Promise<void> {
    await session.query(`update read.parked set attempts = $3::int where schema = $1::text and stream = $2::text`, [
      this.options.generation.schema,
      stream,
      attempts,
    ]);
  }

  private async park(session: PoolClient, parking: Parking, all: Map<string, Parking>): Promise<void> {
    const { stream, revision, position, id, type, reason, waitsFor } = parking;
    await session.query(
      `insert into read.parked (schema, stream, revision, position, event_id, type, reason, waits_for)
       values ($1::text, $2::text, $3::bigint, $4::bigint, $5::text, $6::text, $7::text, $8::text)
       on conflict (schema, stream) do nothing`,
      [this.options.generation.schema, stream, revision, position, id, type, reason, waitsFor ?? null],
    );
    all.set(stream, { stream, revision, position, id, type, reason, ...(waitsFor !== undefined && { waitsFor }) });
  }
}

function whyNot(error: unknown): Pick<Parking, 'reason' | 'waitsFor'> {
  if (error instanceof WaitsForStream) return { reason: `waits for ${error.stream}`, waitsFor: error.stream };
  return { reason: reasonOf(error) };
}
