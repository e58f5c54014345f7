import {
  type AppendOutcome,
  checkAppend,
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  type StoredEvent,
  StoreUnavailable,
  type SubscribeOptions,
  type SubscriptionBatch,
} from '@palimpsest/event-store';
import type { Logger } from '@palimpsest/platform';
import { setMaxListeners } from 'node:events';
import { Appender } from './appender';
import { Connection } from './connection';
import { backoffMs, describe, pause } from './failures';
import { defaultLimits, type EventStoreDbLimits } from './limits';
import { Reader } from './reader';
import { refuseNamesOfTheServer } from './stored-events';
import { Tail, type TailLog } from './tail';

export interface EventStoreDbOptions {
  /** `esdb://`, `esdb+discover://`, `kurrentdb://`: with TLS, credentials and discovery as the client has them. */
  readonly url: string;
  readonly log?: Pick<Logger, 'info' | 'warn'>;
  readonly limits?: Partial<EventStoreDbLimits>;
}

/**
 * The event log in EventStoreDB or KurrentDB. Positions are the commit positions of the server: byte offsets, with gaps. The server's own
 * events, whose names begin with `$`, are passed over.
 */
export class EventStoreDbEventStore implements EventStore {
  private readonly stopped = new AbortController();
  private readonly connection: Connection;
  private readonly reader: Reader;
  private readonly appender: Appender;
  private readonly limits: EventStoreDbLimits;
  private readonly log: EventStoreDbOptions['log'];
  private closing: Promise<void> | undefined;

  /** @throws an Error that says what is wrong with the URL. Connects at the first call. */
  constructor({ url, log, limits }: EventStoreDbOptions) {
    this.limits = { ...defaultLimits, ...limits };
    this.log = log;
    // Each subscription and each read listens for the end.
    setMaxListeners(0, this.stopped.signal);
    this.connection = new Connection(url);
    this.reader = new Reader(this.connection, this.limits, this.stopped.signal);
    this.appender = new Appender(this.connection, this.limits, (stream, revision) => this.positionOf(stream, revision));
  }

  /** Waits until the server answers, for as long as it takes, and says so in the log. False when the signal came first. */
  async untilReachable(signal: AbortSignal): Promise<boolean> {
    const over = AbortSignal.any([signal, this.stopped.signal]);
    for (let failures = 0; !over.aborted; failures += 1) {
      try {
        await this.reader.lastPosition();
        if (failures > 0) this.log?.info({ server: this.connection.address }, 'EventStoreDB answers');
        return true;
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        if (failures % 10 === 0)
          this.log?.warn(...this.saying(error, 'EventStoreDB does not answer yet; waiting for it'));
        await pause(backoffMs(failures), over);
      }
    }
    return false;
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendOutcome> {
    const checked = checkAppend(stream, expected, events);
    refuseNamesOfTheServer(stream, events);
    const bytes = checked.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0);
    return this.appender.append({ stream, expected, events: checked, bytes });
  }

  readStream(stream: string, options: ReadStreamOptions = {}): AsyncIterable<StoredEvent> {
    return this.reader.stream(stream, options);
  }

  readAll(options: ReadAllOptions = {}): AsyncIterable<StoredEvent> {
    return this.reader.all(options);
  }

  subscribe({ signal, ...options }: SubscribeOptions = {}): AsyncIterable<SubscriptionBatch> {
    const over = signal ? AbortSignal.any([signal, this.stopped.signal]) : this.stopped.signal;
    return new Tail(this.connection, this.reader, this.limits, this.tailLog(), options, over).batches();
  }

  async lastPosition(): Promise<Position> {
    return this.reader.lastPosition();
  }

  async close(): Promise<void> {
    this.closing ??= (async () => {
      await this.appender.close();
      this.stopped.abort();
      await this.connection.close();
    })();
    await this.closing;
  }

  private async positionOf(stream: string, revision: bigint): Promise<Position> {
    for await (const { position } of this.reader.stream(stream, { from: revision, limit: 1 })) return position;
    throw new StoreUnavailable(`The event ${revision} of ${stream}, which EventStoreDB stored, cannot be read.`);
  }

  /** One line when a subscription breaks, not one a try. */
  private tailLog(): TailLog {
    let isLost = false;
    return {
      lost: (error) => {
        if (!isLost) this.log?.warn(...this.saying(error, 'a subscription to EventStoreDB broke; it is tried again'));
        isLost = true;
      },
      found: () => {
        isLost = false;
        this.log?.info({ server: this.connection.address }, 'a subscription to EventStoreDB goes on');
      },
    };
  }

  private saying(error: unknown, text: string): [{ server: string; reason: string }, string] {
    return [{ server: this.connection.address, reason: describe(error) }, text];
  }
}
