import {
  digestOf,
  type EventStore,
  type EventUnreadable,
  followLog,
  type KeyRing,
  metaOf,
  type StoredEvent,
} from '@palimpsest/event-store';
import type { Pool } from '@palimpsest/platform';

/**
 * Which keys were destroyed by an event, and up to where the log was read for such events: both beside the keys, so that a backup of them
 * holds all three as of one instant. Idempotent.
 */
export const keyDestructionsSchema = `
create schema if not exists ops;
create table if not exists ops.key_destructions (
  key_id text primary key,
  position bigint not null,
  applied_at timestamptz not null default now()
);
create table if not exists ops.checkpoints (
  name text primary key,
  position bigint not null
);
`;

const NAME = 'key-destructions';
/** How often the checkpoint is written where no key was destroyed. Milliseconds. */
const CHECKPOINT_EVERY_MS = 30_000;

export interface KeyDestructionsOptions {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly keys: KeyRing;
  readonly onError: (error: unknown) => void;
  /** Told of each event that can't be read: were it one that destroys a key, nobody would know. It is passed over. */
  readonly onUnreadable: (error: EventUnreadable) => void;
}

/**
 * Follows the log, and destroys whatever key a `KeyDestroyed` names: where it was destroyed already, by whoever appended it or by another
 * process, nothing happens. After a restore of older keys the checkpoint is as old as they are, and the log says what has to go again; where
 * somebody put back the table of keys alone, what was destroyed is known beside it.
 */
export class KeyDestructions {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private position = -1n;
  private writtenAt = 0;

  constructor(private readonly options: KeyDestructionsOptions) {}

  /** Resolves once every key that the log says is destroyed, as of now, is so. */
  async start(): Promise<void> {
    await this.again();
    this.position = await this.checkpoint();
    await new Promise<void>((caughtUp) => {
      this.running = this.run(caughtUp).finally(caughtUp);
    });
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(caughtUp: () => void): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        // Without an error a subscription ends only with this follower or with the store: there is nothing to go on with.
        return await this.follow(caughtUp);
      } catch (error) {
        if (signal.aborted) return;
        this.options.onError(error);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  }

  private async follow(caughtUp: () => void): Promise<void> {
    const { store, onError, onUnreadable } = this.options;
    const following = { after: this.position, filter: { types: ['KeyDestroyed'] }, onUnreadable };
    for await (const batch of followLog(store, { ...following, signal: this.stopping.signal })) {
      for (const event of batch.events) {
        const keyId = keyDestroyedBy(event);
        if (keyId === null)
          onError(new Error(`${event.stream} at revision ${event.revision} names no key of its own.`));
        else await this.destroy(keyId, event.position);
      }
      this.position = batch.position;
      const isDue = batch.events.length > 0 || performance.now() - this.writtenAt > CHECKPOINT_EVERY_MS;
      if (isDue) await this.write(batch.position);
      if (batch.caughtUp) caughtUp();
    }
  }

  /** What was destroyed before, and is here again. */
  private async again(): Promise<void> {
    const { rows } = await this.options.pool.query<{ key_id: string }>(
      `select d.key_id from ops.key_destructions d left join ops.keys k on k.id = d.key_id
       where k.id is null or k.wrapped is not null`,
    );
    for (const { key_id: keyId } of rows) await this.options.keys.destroy(keyId);
  }

  private async destroy(keyId: string, position: bigint): Promise<void> {
    await this.options.keys.destroy(keyId);
    await this.options.pool.query(
      `insert into ops.key_destructions (key_id, position) values ($1::text, $2::bigint) on conflict (key_id) do nothing`,
      [keyId, position],
    );
  }

  private async checkpoint(): Promise<bigint> {
    const { rows } = await this.options.pool.query<{ position: string | bigint }>(
      'select position from ops.checkpoints where name = $1::text',
      [NAME],
    );
    const [row] = rows;
    if (!row) return -1n;
    const position = BigInt(row.position);
    // A log that was restored from an older backup is shorter than what was read of it: it is read from the start.
    return position > (await this.options.store.lastPosition()) ? -1n : position;
  }

  /** Several processes write it; each has destroyed all up to its own. */
  private async write(position: bigint): Promise<void> {
    await this.options.pool.query(
      `insert into ops.checkpoints (name, position) values ($1::text, $2::bigint)
       on conflict (name) do update set position = excluded.position`,
      [NAME, position],
    );
    this.writtenAt = performance.now();
  }
}

/**
 * The key that an event destroys: its own stream's, or the subject's whose it is. Null for any other one, and where the event is not the one
 * that was written: a flipped bit in the log must not erase somebody else's data.
 */
function keyDestroyedBy(event: StoredEvent): string | null {
  const { keyId } = event.data;
  const isOwn = typeof keyId === 'string' && (keyId === event.stream || keyId.startsWith('subject-'));
  return isOwn && digestSafely(event) === metaOf(event).digest ? keyId : null;
}

function digestSafely(event: StoredEvent): string | null {
  try {
    return digestOf(event);
  } catch {
    return null;
  }
}
