import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb';
import { SupportedMethod, SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb';
import * as streams from '@eventstore/db-client/generated/streams_pb';
import { type sendUnaryData, Server, type ServerUnaryCall } from '@grpc/grpc-js';
import { setTimeout as sleep } from 'node:timers/promises';
import { Appends, nameOf } from './appends';
import { EventLog } from './event-log';
import { type Access, guarded, transportOf } from './access';
import { gossip, type Member } from './gossip';
import { type Endpoint, Faults } from './faults';
import { type ReadCall, Reads } from './reads';
import { unavailable } from './refusals';

/** 16.5 MB: beyond it the server does not read a message. */
const MAX_MESSAGE = 16.5 * 1024 * 1024;
const HOST = '127.0.0.1';

/** How often each call of the protocol came. */
export interface Calls {
  append: number;
  batchAppend: number;
  read: number;
}

export interface ServerOptions {
  /** A free one where it is left out. */
  readonly port?: number;
  /** A file; with it the server keeps what it acknowledged. */
  readonly journal?: string;
  /** What the nodes of one cluster have in common. */
  readonly log?: EventLog;
  /** Whom it lets in, and how. Without it, everybody, in clear text. */
  readonly access?: Access;
  /** The nodes of its cluster as of now. Without it, itself alone. */
  readonly members?: () => readonly Member[];
}

/**
 * A stand-in for one node of EventStoreDB 23.10, for tests: it speaks the real protocol over real sockets, answers as a real
 * one was seen to answer, and fails as it is told.
 */
export class EventStoreDbServer {
  readonly faults = new Faults();
  readonly calls: Calls = { append: 0, batchAppend: 0, read: 0 };
  private readonly appends: Appends;
  private readonly reads: Reads;
  private server: Server | undefined;

  private constructor(
    readonly log: EventLog,
    private boundPort: number,
    private readonly options: ServerOptions,
  ) {
    this.appends = new Appends(log, this.faults);
    this.reads = new Reads(log, this.faults);
  }

  static async start(options: ServerOptions = {}): Promise<EventStoreDbServer> {
    const { port = 0, journal, log = new EventLog(journal) } = options;
    const server = new EventStoreDbServer(log, port, options);
    await server.listen();
    return server;
  }

  get port(): number {
    return this.boundPort;
  }

  /** A connection string for the client. */
  get url(): string {
    return `esdb://${HOST}:${this.boundPort}?tls=false`;
  }

  get endpoint(): Endpoint {
    return { address: HOST, port: this.boundPort };
  }

  get isUp(): boolean {
    return this.server !== undefined;
  }

  /** Reads and subscriptions end with an error; the server stays. */
  killReads(): void {
    this.reads.kill(unavailable);
  }

  /** Goes away as a process that is killed: every connection breaks. */
  stop(): void {
    this.server?.forceShutdown();
    this.server = undefined;
  }

  /** Comes back on the same port, with what it had acknowledged. */
  async listen(): Promise<void> {
    this.log.restarted();
    const server = this.build();
    const bind = () =>
      new Promise<number>((resolve, reject) =>
        server.bindAsync(`${HOST}:${this.boundPort}`, transportOf(this.options.access), (error, port) =>
          error ? reject(error) : resolve(port),
        ),
      );
    for (let tries = 1; ; tries += 1) {
      try {
        this.boundPort = await bind();
        break;
      } catch (error) {
        // The connections of the one before may not be gone yet.
        if (tries === 50) throw error;
        await sleep(20);
      }
    }
    this.server = server;
  }

  async restart(downMs = 0): Promise<void> {
    this.stop();
    await sleep(downMs);
    await this.listen();
  }

  close(): void {
    this.faults.clear();
    this.stop();
    this.log.close();
  }

  private build(): Server {
    const { access, members = () => [{ endpoint: this.endpoint, leads: true, isAlive: true }] } = this.options;
    const server = new Server({
      'grpc.max_receive_message_length': MAX_MESSAGE,
      'grpc.max_send_message_length': -1,
      interceptors: guarded(access),
    });
    server.addService(GossipService, {
      read: (_: unknown, answer: sendUnaryData<ClusterInfo>) =>
        void this.faults.patience().then(() => answer(null, gossip(members()))),
    });
    server.addService(StreamsService, {
      read: (call: ReadCall) => {
        this.calls.read += 1;
        void this.reads.read(call);
      },
      append: (...[call, answer]: Parameters<Appends['append']>) => {
        this.calls.append += 1;
        void this.appends.append(call, answer);
      },
      batchAppend: (call: Parameters<Appends['batchAppend']>[0]) => {
        this.calls.batchAppend += 1;
        this.appends.batchAppend(call);
      },
      delete: (
        { request }: ServerUnaryCall<streams.DeleteReq, streams.DeleteResp>,
        answer: sendUnaryData<streams.DeleteResp>,
      ) => {
        this.log.softDelete(nameOf(request.getOptions()?.getStreamIdentifier()));
        answer(null, new streams.DeleteResp());
      },
      tombstone: (
        { request }: ServerUnaryCall<streams.TombstoneReq, streams.TombstoneResp>,
        answer: sendUnaryData<streams.TombstoneResp>,
      ) => {
        this.log.tombstone(nameOf(request.getOptions()?.getStreamIdentifier()));
        answer(null, new streams.TombstoneResp());
      },
    });
    server.addService(ServerFeaturesService, {
      getSupportedMethods: (_: unknown, answer: sendUnaryData<SupportedMethods>) =>
        void this.faults.patience().then(() => answer(null, supported())),
    });
    return server;
  }
}

function supported(): SupportedMethods {
  const methods = new SupportedMethods().setEventStoreServerVersion('23.10.0');
  for (const name of ['append', 'batchappend', 'read', 'delete', 'tombstone'])
    methods.addMethods(new SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name));
  return methods;
}
