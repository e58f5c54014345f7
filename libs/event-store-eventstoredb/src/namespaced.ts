import {
  type AppendOutcome,
  type EventFilter,
  type EventStore,
  EventUnreadable,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  type StoredEvent,
  type SubscribeOptions,
  type SubscriptionBatch,
} from '@palimpsest/event-store';

/**
 * A part of a log as a log of its own: its streams are those whose names begin with the namespace and a full stop, which nobody above this
 * sees. EventStoreDB has one log a server, and an installation takes every conversation that it finds for one of its own. Positions are those
 * of the whole log.
 */
export class NamespacedEventStore implements EventStore {
  private readonly prefix: string;

  /** `namespace` holds no full stop, so that none is the beginning of another. */
  constructor(
    private readonly inner: EventStore,
    namespace: string,
  ) {
    this.prefix = `${namespace}.`;
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendOutcome> {
    return this.inner.append(stream === '' ? stream : this.prefix + stream, expected, events);
  }

  readStream(stream: string, options?: ReadStreamOptions): AsyncIterable<StoredEvent> {
    return this.within(this.inner.readStream(this.prefix + stream, options), (event) => this.without(event));
  }

  readAll({ filter, ...options }: ReadAllOptions = {}): AsyncIterable<StoredEvent> {
    const read = this.inner.readAll({ ...options, filter: this.narrowed(filter) });
    return this.within(read, (event) => this.without(event));
  }

  subscribe({ filter, ...options }: SubscribeOptions = {}): AsyncIterable<SubscriptionBatch> {
    const followed = this.inner.subscribe({ ...options, filter: this.narrowed(filter) });
    return this.within(followed, (batch) => ({ ...batch, events: batch.events.map((event) => this.without(event)) }));
  }

  async lastPosition(): Promise<Position> {
    return this.inner.lastPosition();
  }

  async close(): Promise<void> {
    await this.inner.close();
  }

  private narrowed({ streamPrefixes = [''], ...filter }: EventFilter = {}): EventFilter {
    return { ...filter, streamPrefixes: streamPrefixes.map((prefix) => this.prefix + prefix) };
  }

  private async *within<T>(read: AsyncIterable<T>, named: (part: T) => T): AsyncGenerator<T> {
    try {
      for await (const part of read) yield named(part);
    } catch (error) {
      throw error instanceof EventUnreadable ? new EventUnreadable(this.without(error.place), { cause: error }) : error;
    }
  }

  private without<T extends { readonly stream: string }>(place: T): T {
    return { ...place, stream: place.stream.slice(this.prefix.length) };
  }
}
