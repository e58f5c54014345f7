import { END, ErrorType, type ResolvedEvent, START } from '@eventstore/db-client';
import {
  EventUnreadable,
  filterOf,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  type StoredEvent,
  StoreUnavailable,
} from '@palimpsest/event-store';
import type { Connection } from './connection';
import { backoffMs, describe, explained, isTransient, pause, StreamTombstoned, typeOf } from './failures';
import { Inflow, type Source } from './inflow';
import type { EventStoreDbLimits } from './limits';
import { eventOf, isOfTheServer, toArrived } from './stored-events';

/** Tries of one read without progress before it gives up. */
const READ_TRIES = 4;
/** Events of one read of the log for whoever wants few of them: they may lie behind some of the server's own, or of other streams. */
const FEW = 32;

type Direction = 'forwards' | 'backwards';

/** Reads from the leader: a follower may not have yet what was acknowledged, and a refusal must not rest on that. */
const ofTheLeader = { requiresLeader: true };

/** Reads of streams and of the log. A read that breaks goes on where it was. */
export class Reader {
  constructor(
    private readonly connection: Connection,
    private readonly limits: EventStoreDbLimits,
    private readonly stopped: AbortSignal,
  ) {}

  async *stream(stream: string, options: ReadStreamOptions): AsyncGenerator<StoredEvent> {
    const { direction = 'forwards', limit = Infinity } = options;
    this.refuseIfClosed();
    let [from, left] = [options.from, limit];
    const tries = new Tries(this.stopped);
    // Before the start of a stream there is nothing, and -1 is no revision that may be asked for.
    while (left > 0 && (from === undefined || from >= 0n)) {
      try {
        for await (const items of this.pieces(this.streamPage(stream, from, direction, left))) {
          tries.progress();
          for (const resolved of items) {
            const arrived = toArrived(resolved);
            if (!arrived) continue;
            const event = eventOf(arrived);
            left -= 1;
            from = event.revision + (direction === 'forwards' ? 1n : -1n);
            yield event;
          }
        }
        return;
      } catch (error) {
        if (typeOf(error) === ErrorType.STREAM_NOT_FOUND) return;
        if (typeOf(error) === ErrorType.STREAM_DELETED) throw new StreamTombstoned(stream);
        await tries.failed(error);
      }
    }
  }

  async *all(options: ReadAllOptions): AsyncGenerator<StoredEvent> {
    const { direction = 'forwards', limit = Infinity, after } = options;
    this.refuseIfClosed();
    const passes = filterOf(options.filter);
    const maxCount = limit <= FEW ? FEW : Number.MAX_SAFE_INTEGER;
    const start = after === undefined || after < 0n ? undefined : after;
    if (limit <= 0 || (direction === 'backwards' && after !== undefined && after < 0n)) return;
    let left = limit;
    /** Where the next page is asked for, and up to where all was seen. They differ only after the fallback below. */
    let [place, seen] = [start, start];
    const tries = new Tries(this.stopped);
    for (;;) {
      try {
        let came = 0;
        for await (const items of this.pieces(this.logPage(place, direction, maxCount))) {
          came += items.length;
          tries.progress();
          for (const resolved of items) {
            const arrived = toArrived(resolved);
            if (!arrived) continue;
            place = arrived.place.position;
            if (seen !== undefined && (direction === 'forwards' ? place <= seen : place >= seen)) continue;
            seen = place;
            if (isOfTheServer(arrived.place) || !passes(arrived.place)) continue;
            yield eventOf(arrived);
            if ((left -= 1) <= 0) return;
          }
        }
        if (came < maxCount) return;
      } catch (error) {
        // A position where no event begins is an unknown error, each time. From the very start instead: slow, and right.
        if (typeOf(error) === ErrorType.UNKNOWN && tries.isLast && place !== undefined && place === start)
          place = undefined;
        else await tries.failed(error);
      }
    }
  }

  async lastPosition(): Promise<Position> {
    try {
      for await (const { position } of this.all({ direction: 'backwards', limit: 1 })) return position;
      return -1n;
    } catch (error) {
      // What can't be read stands there all the same.
      if (error instanceof EventUnreadable) return error.place.position;
      throw error;
    }
  }

  private streamPage(stream: string, from: bigint | undefined, direction: Direction, limit: number): Source {
    const fromRevision = from ?? (direction === 'forwards' ? START : END);
    const maxCount = Math.min(limit, Number.MAX_SAFE_INTEGER);
    return this.connection.client.readStream(stream, { ...ofTheLeader, fromRevision, maxCount, direction });
  }

  private logPage(from: bigint | undefined, direction: Direction, maxCount: number): Source {
    const end = direction === 'forwards' ? START : END;
    const fromPosition = from === undefined ? end : { commit: from, prepare: from };
    return this.connection.client.readAll({ ...ofTheLeader, fromPosition, maxCount, direction });
  }

  /** By the piece, as it comes: a generator that waits for each event takes as long again as the read. */
  private async *pieces(source: Source): AsyncGenerator<ResolvedEvent[]> {
    const inflow = new Inflow<ResolvedEvent>(source, this.stopped);
    try {
      this.refuseIfClosed();
      for (;;) {
        const { items, ended } = await inflow.demand(this.limits.tryTimeoutMs);
        if (ended) return;
        yield items;
      }
    } finally {
      inflow.leave();
    }
  }

  private refuseIfClosed(): void {
    if (this.stopped.aborted) throw new StoreUnavailable('The event store is closed.');
  }
}

/** How often a read failed since it last went on. */
class Tries {
  private failures = 0;

  constructor(private readonly stopped: AbortSignal) {}

  get isLast(): boolean {
    return this.failures === READ_TRIES - 1;
  }

  progress(): void {
    this.failures = 0;
  }

  /** Waits before the next try, or throws where there is none. */
  async failed(error: unknown): Promise<void> {
    if (this.stopped.aborted) throw new StoreUnavailable('The event store is closed.');
    if (!isTransient(error)) throw explained(error);
    this.failures += 1;
    if (this.failures >= READ_TRIES) {
      throw new StoreUnavailable(
        `The EventStoreDB of EVENTSTORE_URL cannot be read (${describe(error)}). Try again later.`,
        {
          cause: error,
        },
      );
    }
    await pause(backoffMs(this.failures), this.stopped);
  }
}
