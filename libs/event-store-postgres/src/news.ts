import { WakeUp } from '@palimpsest/event-store';
import type { Notification, Pool, PoolClient } from 'pg';
import { connectWithin } from './connect';
import { backoffMs, pause } from './failures';
import type { PostgresEventStoreLimits } from './limits';

/**
 * Tells readers that the log has grown: at once for appends of this process, by LISTEN for those of others, and at least every `pollMs`,
 * since a notification may be lost with its connection. It never says what was appended: readers ask the log. How far the log reaches it
 * says of this process's own appends alone, whose answers it has; anybody could send a notification.
 */
export class News {
  private readonly wakeUp = new WakeUp();
  private own = -1n;
  private heard = -1n;
  private reasons = 0;
  private listening: Promise<void> | undefined;
  private poll: NodeJS.Timeout | undefined;
  private readers = 0;

  constructor(
    private readonly pool: Pool,
    private readonly limits: PostgresEventStoreLimits,
    private readonly stopped: AbortSignal,
    /** The server's process behind the connection that this process appends on. */
    private readonly ownBackend: () => number | undefined,
  ) {
    stopped.addEventListener('abort', () => this.wakeUp.wake());
  }

  /** The first reader opens the connection that listens; it stays until the store is closed. */
  join(): void {
    this.readers++;
    this.listening ??= this.listen();
    this.poll ??= setInterval(() => this.doubt(), this.limits.pollMs).unref();
  }

  leave(): void {
    if (--this.readers > 0) return;
    clearInterval(this.poll);
    this.poll = undefined;
  }

  /** Settles with the next news; see WakeUp for how a reader misses none. */
  next(): Promise<void> {
    return this.wakeUp.next();
  }

  /** The log reaches at least this far. */
  get committed(): bigint {
    return this.own;
  }

  /** Grows whenever others may have appended: then only the log knows where it ends. */
  get doubts(): number {
    return this.reasons;
  }

  /** An append of this process was committed. */
  tell(position: bigint): void {
    if (position <= this.own) return;
    this.own = position;
    this.wakeUp.wake();
  }

  wake(): void {
    this.wakeUp.wake();
  }

  async close(): Promise<void> {
    clearInterval(this.poll);
    await this.listening;
  }

  private doubt(): void {
    this.reasons += 1;
    this.wakeUp.wake();
  }

  /** The notification of an own append may be here before its answer, which will tell more. */
  private hear({ processId, payload }: Notification): void {
    if (processId === this.ownBackend()) return;
    const position = BigInt(payload ?? -1);
    if (position <= this.own || position <= this.heard) return;
    this.heard = position;
    this.doubt();
  }

  private async listen(): Promise<void> {
    let failures = 0;
    while (!this.stopped.aborted) {
      try {
        const client = await connectWithin(this.pool, this.limits.tryTimeoutMs);
        failures = 0;
        await this.listenOn(client);
      } catch {
        // Until it is back, readers live from the poll.
      }
      if (!this.stopped.aborted) await pause(backoffMs(failures++), this.stopped);
    }
  }

  /** Returns when the connection breaks or the store is closed. */
  private async listenOn(client: PoolClient): Promise<void> {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    client.on('error', end).on('end', end);
    this.stopped.addEventListener('abort', end);
    try {
      client.on('notification', (notification) => this.hear(notification));
      await client.query('listen event_log');
      // What was appended before the server listened for us was not told.
      this.doubt();
      if (!this.stopped.aborted) await ended;
    } finally {
      this.stopped.removeEventListener('abort', end);
      client.release(true);
    }
  }
}
