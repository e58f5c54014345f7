import { checkAppend } from './check-append';
import { EventUnreadable, StoreUnavailable } from './errors';
import { filterOf } from './filter';
import type {
  AppendOutcome,
  EventFilter,
  EventStore,
  ExpectedRevision,
  NewEvent,
  Position,
  ReadAllOptions,
  ReadStreamOptions,
  StoredEvent,
  SubscribeOptions,
  SubscriptionBatch,
} from './port';
import { parseStored } from './parse-stored';
import { WakeUp } from './wake-up';

/** Events of a subscription's batch, before it is stretched to the end of its last append. */
const BATCH = 256;

interface Entry {
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
  readonly createdAt: Date;
  /** How many events of the same append follow. */
  readonly rest: number;
}

/** The event store for unit tests: answers as the real ones do, keeps nothing after the process. */
export class InMemoryEventStore implements EventStore {
  private readonly log: Entry[] = [];
  private readonly streams = new Map<string, Entry[]>();
  private readonly news = new WakeUp();
  private closed = false;

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendOutcome> {
    const checked = checkAppend(stream, expected, events);
    this.refuseIfClosed();
    const entries = this.streams.get(stream) ?? [];
    const start = expected === 'no_stream' ? 0n : expected + 1n;
    const length = BigInt(entries.length);
    if (start < length) {
      // Known ids at the same place are the same append again, whatever its bytes are now: the first ones stay.
      const known = entries.slice(Number(start), Number(start) + checked.length);
      const last = known[checked.length - 1];
      if (last && known.every((entry, i) => entry.id === checked[i]?.id)) return stored(last);
    }
    if (start !== length) {
      return { outcome: 'conflict', expected, actual: length === 0n ? 'no_stream' : length - 1n };
    }
    const createdAt = new Date();
    checked.forEach((event, i) => {
      const entry: Entry = {
        ...event,
        stream,
        revision: start + BigInt(i),
        position: BigInt(this.log.length),
        createdAt,
        rest: checked.length - 1 - i,
      };
      entries.push(entry);
      this.log.push(entry);
    });
    this.streams.set(stream, entries);
    this.news.wake();
    return stored(entries[entries.length - 1]!);
  }

  async *readStream(stream: string, options: ReadStreamOptions = {}): AsyncIterable<StoredEvent> {
    this.refuseIfClosed();
    const { from, direction = 'forwards', limit = Infinity } = options;
    const entries = (this.streams.get(stream) ?? []).filter(
      (entry) => from === undefined || (direction === 'forwards' ? entry.revision >= from : entry.revision <= from),
    );
    if (direction === 'backwards') entries.reverse();
    for (const entry of entries.slice(0, limit)) yield toEvent(entry);
  }

  async *readAll(options: ReadAllOptions = {}): AsyncIterable<StoredEvent> {
    this.refuseIfClosed();
    const { after, direction = 'forwards', filter, limit = Infinity } = options;
    const passes = filterOf(filter);
    const entries = this.log.filter(
      (entry) =>
        passes(entry) &&
        (after === undefined || (direction === 'forwards' ? entry.position > after : entry.position < after)),
    );
    if (direction === 'backwards') entries.reverse();
    for (const entry of entries.slice(0, limit)) yield toEvent(entry);
  }

  async *subscribe(options: SubscribeOptions = {}): AsyncIterable<SubscriptionBatch> {
    const { signal } = options;
    const wake = () => this.news.wake();
    signal?.addEventListener('abort', wake);
    try {
      let position = options.after ?? -1n;
      let first = true;
      while (!this.closed && !signal?.aborted) {
        const news = this.news.next();
        const batch = this.batchAfter(position, options.filter);
        if (first || batch.position > position) {
          first = false;
          position = batch.position;
          yield batch;
        } else {
          await news;
        }
      }
    } finally {
      signal?.removeEventListener('abort', wake);
    }
  }

  async lastPosition(): Promise<Position> {
    this.refuseIfClosed();
    return BigInt(this.log.length) - 1n;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.news.wake();
  }

  private batchAfter(after: Position, filter: EventFilter | undefined): SubscriptionBatch {
    const begin = Math.min(Number(after) + 1, this.log.length);
    let end = Math.min(begin + BATCH, this.log.length);
    end += this.log[end - 1]?.rest ?? 0;
    const position = end === begin ? after : BigInt(end) - 1n;
    const events: StoredEvent[] = [];
    try {
      for (const entry of this.log.slice(begin, end).filter(filterOf(filter))) events.push(toEvent(entry));
    } catch (error) {
      const last = events.at(-1);
      if (!(error instanceof EventUnreadable) || !last) throw error;
      return { events, position: last.position, caughtUp: false };
    }
    return { events, position, caughtUp: end === this.log.length };
  }

  private refuseIfClosed(): void {
    if (this.closed) throw new StoreUnavailable('The event store is closed.');
  }
}

function stored(entry: Entry): AppendOutcome {
  return { outcome: 'stored', revision: entry.revision, position: entry.position };
}

/** Parsed anew for every reader: nobody can change what is stored, or what another one reads. */
function toEvent({ rest: _, ...entry }: Entry): StoredEvent {
  const place = () => entry;
  return {
    ...entry,
    data: parseStored(() => entry.data, place),
    metadata: parseStored(() => entry.metadata, place),
  };
}
