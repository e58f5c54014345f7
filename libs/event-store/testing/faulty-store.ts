import {
  type AppendOutcome,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  OutcomeUnknown,
  type StoredEvent,
  StoreUnavailable,
} from '../src';

/**
 * What can go wrong with one call of `append`: nothing; no answer and stored; no answer and not stored; no answer, and stored by the time
 * of a later call; unreachable before anything was sent; another writer comes first.
 */
export type Fault = 'none' | 'stored' | 'not_stored' | 'late' | 'unreachable' | 'conflict';

/** A store that fails as it is told, one fault a call, and then works. It counts what it is asked for. */
export class FaultyStore implements EventStore {
  appends = 0;
  eventsRead = 0;
  reads = 0;
  /** Faults of the next reads. */
  readFaults = 0;
  private late: (() => Promise<unknown>)[] = [];

  constructor(
    private readonly inner: EventStore,
    private readonly faults: Fault[] = [],
    /** Appends something of another writer's to the stream. */
    private readonly intrude: (stream: string) => Promise<unknown> = async () => undefined,
  ) {}

  fail(...faults: Fault[]): void {
    this.faults.push(...faults);
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendOutcome> {
    this.appends += 1;
    const fault = this.faults.shift() ?? 'none';
    const append = () => this.inner.append(stream, expected, events);
    if (fault === 'unreachable') throw new StoreUnavailable('The store is away.');
    if (fault === 'not_stored') throw new OutcomeUnknown('No answer.');
    if (fault === 'late') {
      this.late.push(append);
      throw new OutcomeUnknown('No answer yet.');
    }
    for (const commit of this.late.splice(0)) await commit();
    if (fault === 'conflict') await this.intrude(stream);
    const outcome = await append();
    if (fault === 'stored') throw new OutcomeUnknown('The answer was lost.');
    return outcome;
  }

  async *readStream(...args: Parameters<EventStore['readStream']>): AsyncIterable<StoredEvent> {
    this.reads += 1;
    if (this.readFaults > 0) {
      this.readFaults -= 1;
      throw new StoreUnavailable('The store is away.');
    }
    for await (const event of this.inner.readStream(...args)) {
      this.eventsRead += 1;
      yield event;
    }
  }

  readAll = (...args: Parameters<EventStore['readAll']>) => this.inner.readAll(...args);
  subscribe = (...args: Parameters<EventStore['subscribe']>) => this.inner.subscribe(...args);
  lastPosition = () => this.inner.lastPosition();
  close = () => this.inner.close();
}
