import { EventStoreDBClient } from '@eventstore/db-client';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb';
import { setTimeout as sleep } from 'node:timers/promises';

/** A call over which appends go, many at a time. */
export type AppendCall = ReturnType<StreamsClient['batchAppend']>;

/** What the client's own methods are built on (`protected` there), as version 6.2.1 has it. */
interface Inside {
  callArguments(options: object, callOptions: object): [never, never];
  GRPCStreamCreator(
    client: typeof StreamsClient,
    name: string,
    creator: (client: StreamsClient) => AppendCall,
    cache: WeakMap<object, Promise<AppendCall>>,
  ): () => Promise<AppendCall>;
}

const CLOSE_MS = 2_000;

/**
 * The client, with its discovery, credentials, TLS, keep-alive and reconnection; and a call for appends of our own over its channel. The
 * client's `appendToStream` would take the process down: its batch path keeps the appends of all clients of a process in one table, clears
 * it when any call breaks, and throws from an event handler when an answer comes after that; and appends that wait for a full call are
 * rejected where nobody can catch it.
 */
export class Connection {
  readonly client: EventStoreDBClient;
  /** For log lines: without credentials. */
  readonly address: string;
  private readonly calls = new WeakMap<object, Promise<AppendCall>>();

  /** @throws an Error that says what is wrong with the connection string. Nothing is sent yet. */
  constructor(url: string) {
    this.client = clientOf(url);
    this.address = url
      .replace(/^[^:]+:\/\//, '')
      .replace(/^[^/?]*@/, '')
      .replace(/[/?].*$/, '');
  }

  /** The call that is open, or a new one; `opened` is told of new ones. */
  async appendCall(opened: (call: AppendCall) => void): Promise<AppendCall> {
    const inside = this.client as unknown as Inside;
    const open = (streams: StreamsClient): AppendCall => {
      const call = streams.batchAppend(...inside.callArguments({}, { deadline: Infinity }));
      opened(call);
      return call;
    };
    return inside.GRPCStreamCreator(StreamsClient, 'appendToStream', open, this.calls)();
  }

  /** Ends all calls. The client waits for each of them, also for those that a frozen server keeps. */
  async close(): Promise<void> {
    const closed = new AbortController();
    // The timer keeps the process alive: whoever closes on its way out has yet to say why.
    const late = sleep(CLOSE_MS, undefined, { signal: closed.signal }).catch(() => undefined);
    await Promise.race([this.client.dispose(), late]);
    closed.abort();
  }
}

function clientOf(url: string): EventStoreDBClient {
  try {
    // The server's new name; the client knows the old one alone.
    return EventStoreDBClient.connectionString(url.replace(/^kurrentdb/, 'esdb'));
  } catch (error) {
    // The client quotes the place, which may hold a password: of its message only what it expected there is told, and no cause kept.
    const expected = /, expected ([^"]+?)\.?$/.exec((error as Error).message)?.[1];
    const why = expected === undefined ? '' : `; expected there: ${expected}`;
    throw new Error(`EVENTSTORE_URL is no URL like esdb://host:2113?tls=true (not shown here)${why}.`);
  }
}
