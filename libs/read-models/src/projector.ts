import { setTimeout as sleep } from 'node:timers/promises';
import { type EventStore, EventUnreadable, type Position } from '@palimpsest/event-store';
import type { Pool } from 'pg';
import { inBatches } from './batches';
import { reasonOf } from './faults';
import { find, findLive, type Generation, type GenerationState, swapGenerations } from './generations';
import { GenerationLost, GenerationWriter, type Parking } from './generation-writer';
import type { Projection } from './projection';
import type { ProjectionLock, ProjectionLocks } from './projection-lock';
import type { LiveTables } from './tables';

export interface ProjectorOptions {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly projection: Projection;
  /** Of this process. */
  readonly locks: ProjectionLocks;
  /** What its queries read: told which generation is the live one. */
  readonly tables?: LiveTables;
  /** Told of every failure; the projector tries the batch again, after `retryMs` and then twice that, at most `maxRetryMs`. */
  readonly onError: (error: unknown) => void;
  readonly retryMs?: number;
  readonly maxRetryMs?: number;
  /** False: this process never writes, and only looks how far another one has come. Default: true. */
  readonly writes?: boolean;
  /** The pause behind a batch at the log's end, in which the next one gathers: what follows within milliseconds costs one transaction. */
  readonly gatherMs?: number;
  /** Told when this process begins to write the projection, and when it no longer does. */
  readonly onWriting?: (writing: boolean) => void;
  /** Told of each stream that the projection leaves from now on, and of the event that it could not take. */
  readonly onParked?: (parking: Parking, state: GenerationState) => void;
  /** Told when the generation that was built beside has become the live one. */
  readonly onSwapped?: () => void;
  /** How often a process that stands by looks whether it is its turn, and how far the other one has come. */
  readonly standbyMs?: number;
  /** How often a process that writes looks whether an operator wants something of it. */
  readonly attendMs?: number;
}

/**
 * Follows the log and writes one projection, in one process at a time; the others stand by. Beside it, under a lock of its own, whoever
 * writes also builds the generation that an operator has asked for, and makes it the live one as soon as it is as far.
 */
export class Projector {
  private readonly stopping = new AbortController();
  private running: Promise<unknown> = Promise.resolve();
  private reached: Position = -1n;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly options: ProjectorOptions) {}

  get projection(): Projection {
    return this.options.projection;
  }

  /** Up to where the projection is known to be written. */
  get position(): Position {
    return this.reached;
  }

  start(): void {
    const { writes = true } = this.options;
    const loops = [this.keepAt(() => this.followLive()), ...(writes ? [this.keepAt(() => this.build())] : [])];
    this.running = Promise.all(loops);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Resolves as soon as the projection moves, or after `ms`. */
  moved(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.waiting.add(done);
    });
  }

  /** Over and over, until it is stopped; `work` rejects where it could not go on, and resolves to true where there is nothing to go on with. */
  private async keepAt(work: () => Promise<boolean>): Promise<void> {
    const { onError, retryMs = 200, maxRetryMs = 10_000 } = this.options;
    let pause = retryMs;
    while (!this.stopping.signal.aborted) {
      const began = performance.now();
      try {
        if (await work()) return;
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        if (error instanceof GenerationLost) continue;
        if (performance.now() - began > maxRetryMs) pause = retryMs;
        onError(error);
        await this.sleep(pause);
        pause = Math.min(pause * 2, maxRetryMs);
      }
    }
  }

  private async followLive(): Promise<boolean> {
    const { projection, pool, writes = true, standbyMs = 250, onWriting } = this.options;
    const lock = writes ? await this.lock('live') : undefined;
    try {
      const live = await findLive(pool, projection);
      this.arrive(live, live.position);
      if (!lock) {
        await this.sleep(standbyMs);
        return false;
      }
      onWriting?.(true);
      return await this.write(live, lock, (position) => this.arrive(live, position));
    } finally {
      if (lock) onWriting?.(false);
      await lock?.release();
    }
  }

  private async build(): Promise<boolean> {
    const { projection, pool, attendMs = 500 } = this.options;
    const lock = (await find(pool, projection, 'building')) && (await this.lock('building'));
    if (!lock) {
      await this.sleep(attendMs);
      return false;
    }
    try {
      // Under the lock: whoever had it before may have come to the end.
      const building = await find(pool, projection, 'building');
      return building ? await this.write(building, lock, () => undefined) : false;
    } finally {
      await lock.release();
    }
  }

  private lock(state: GenerationState): Promise<ProjectionLock | undefined> {
    const { projection, locks } = this.options;
    return locks.take(`${projection.name}/${projection.version}/${state}`);
  }

  /** True where the store gives no more. False: the lock is lost, or somebody wants something that is seen to from the start. */
  private async write(
    generation: Generation,
    lock: ProjectionLock,
    onArrival: (position: Position) => void,
  ): Promise<boolean> {
    const { pool, store, projection, gatherMs = 20, onParked } = this.options;
    const writer = new GenerationWriter({
      ...{ pool, store, projection, generation },
      onParked: (parking) => onParked?.(parking, generation.state),
    });
    const called = new AbortController();
    const over = AbortSignal.any([this.stopping.signal, lock.signal, called.signal]);
    const attending = this.attend(generation, writer, called, over);
    try {
      await writer.open();
      await writer.retry();
      const subscription = store.subscribe({ after: writer.position, filter: projection.filter, signal: over });
      for await (const { events, position, caughtUp } of inBatches(subscription)) {
        await writer.write(events, position);
        onArrival(position);
        if (!caughtUp) continue;
        if (generation.state === 'building' && (await this.swap())) return false;
        await this.sleep(gatherMs);
      }
      return !lock.signal.aborted && !called.signal.aborted;
    } catch (error) {
      if (error instanceof EventUnreadable) {
        await writer.passOver(error.place);
        return false;
      }
      if (!(error instanceof GenerationLost)) await this.note(generation, error);
      throw error;
    } finally {
      called.abort();
      await attending;
    }
  }

  /** Looks from time to time whether the generation is still what it was, is wanted to try parked streams again, or may be swapped in. */
  private async attend(
    generation: Generation,
    writer: GenerationWriter,
    called: AbortController,
    over: AbortSignal,
  ): Promise<void> {
    const { pool, attendMs = 500 } = this.options;
    while (!over.aborted) {
      await sleep(attendMs, undefined, { signal: over }).catch(() => undefined);
      if (over.aborted) return;
      try {
        const { rows } = await pool.query<{ state: GenerationState; wanted: boolean }>(
          `select state, exists (select from read.parked p where p.schema = g.schema and retry_requested_at is not null) as wanted
           from read.generations g where schema = $1::text`,
          [generation.schema],
        );
        const isAsItWas = rows[0]?.state === generation.state && !rows[0].wanted;
        if (!isAsItWas || (generation.state === 'building' && writer.position >= this.reached && (await this.swap())))
          called.abort();
      } catch {
        // Whoever writes meets the same database, and says so.
      }
    }
  }

  /** Row locks on the two checkpoints alone: no query waits. */
  private async swap(): Promise<boolean> {
    const { pool, projection, onSwapped } = this.options;
    const session = await pool.connect();
    try {
      await session.query('begin');
      const isSwapped = await swapGenerations(session, projection);
      await session.query('commit');
      session.release();
      if (isSwapped) onSwapped?.();
      return isSwapped;
    } catch (error) {
      session.release(true);
      throw error;
    }
  }

  /** For operators: what the last failure was. Where the database is away, the log alone has it. */
  private async note({ schema }: Generation, error: unknown): Promise<void> {
    await this.options.pool
      .query(`update read.generations set error = $2::text, error_at = now() where schema = $1::text`, [
        schema,
        reasonOf(error),
      ])
      .catch(() => undefined);
  }

  private arrive({ schema }: Generation, position: Position): void {
    this.options.tables?.goTo(schema);
    this.reached = position;
    for (const done of [...this.waiting]) done();
  }

  private async sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}
