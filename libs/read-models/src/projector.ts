import { setTimeout as sleep } from 'node:timers/promises';
import type { EventStore, Position, SubscriptionBatch } from '@palimpsest/event-store';
import type { Pool } from 'pg';
import type { Projection } from './projection';
import { takeProjectionLock } from './projection-lock';

export interface ProjectorOptions {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly projection: Projection;
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
  /** How often a process that stands by looks whether it is its turn, and how far the other one has come. */
  readonly standbyMs?: number;
}

/**
 * Follows the log and writes one projection, in one process at a time; the others stand by. Rows and checkpoint commit together, so a crash
 * between them is a crash before both.
 */
export class Projector {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private reached: Position = -1n;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly options: ProjectorOptions) {}

  /** Up to where the projection is known to be written. */
  get position(): Position {
    return this.reached;
  }

  start(): void {
    this.running = this.run();
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

  private async run(): Promise<void> {
    const { onError, retryMs = 200, maxRetryMs = 10_000 } = this.options;
    let pause = retryMs;
    while (!this.stopping.signal.aborted) {
      try {
        if (await this.follow(() => (pause = retryMs))) return;
      } catch (error) {
        if (this.stopping.signal.aborted) return;
        onError(error);
        await this.sleep(pause);
        pause = Math.min(pause * 2, maxRetryMs);
      }
    }
  }

  /** True where there is nothing to go on with: without an error a subscription ends with this projector, with the store, or with the lock. */
  private async follow(onProgress: () => void): Promise<boolean> {
    const { pool, projection, writes = true, standbyMs = 250, onWriting } = this.options;
    const lock = writes ? await takeProjectionLock(pool, projection.name, projection.version) : undefined;
    try {
      this.arrive(await this.checkpoint());
      onProgress();
      if (!lock) {
        await this.sleep(standbyMs);
        return false;
      }
      onWriting?.(true);
      await this.writeOn(AbortSignal.any([this.stopping.signal, lock.signal]), onProgress);
      return !lock.signal.aborted;
    } finally {
      if (lock) onWriting?.(false);
      lock?.release();
    }
  }

  private async writeOn(signal: AbortSignal, onProgress: () => void): Promise<void> {
    const { store, projection, gatherMs = 20 } = this.options;
    for await (const batch of store.subscribe({ after: this.reached, filter: projection.filter, signal })) {
      await this.write(batch);
      this.arrive(batch.position);
      onProgress();
      if (batch.caughtUp) await this.sleep(gatherMs);
    }
  }

  private async checkpoint(): Promise<Position> {
    const { pool, projection } = this.options;
    const { rows } = await pool.query<{ position: bigint }>(
      `select position from read.checkpoints where projection = $1::text and version = $2::int`,
      [projection.name, projection.version],
    );
    return rows[0]?.position ?? -1n;
  }

  private async write(batch: SubscriptionBatch): Promise<void> {
    const { pool, projection } = this.options;
    const client = await pool.connect();
    try {
      await client.query('begin; set local synchronous_commit = off'); // it can be rebuilt
      const { rowCount } = await client.query(
        `insert into read.checkpoints as old (projection, version, position) values ($1::text, $2::int, $3::bigint)
         on conflict (projection, version) do update set position = excluded.position where old.position = $4::bigint`,
        [projection.name, projection.version, batch.position, this.reached],
      );
      if (rowCount !== 1)
        throw new Error(
          `Another process writes projection ${projection.name}: its checkpoint is no longer ${this.reached}.`,
        );
      if (batch.events.length) await projection.apply(batch.events, client);
      await client.query('commit');
      client.release();
    } catch (error) {
      client.release(true); // closes the connection, which rolls back
      throw error;
    }
  }

  private arrive(position: Position): void {
    this.reached = position;
    for (const done of [...this.waiting]) done();
  }

  private async sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}
