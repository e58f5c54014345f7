import * as shared from '@eventstore/db-client/generated/shared_pb';
import * as streams from '@eventstore/db-client/generated/streams_pb';
import { type ServerWritableStream, type ServiceError } from '@grpc/grpc-js';
import { nameOf } from './appends';
import { type EventLog, type Recorded } from './event-log';
import { type Faults } from './faults';
import { notLeader, streamDeleted, unimplemented, unknown } from './refusals';

export type ReadCall = ServerWritableStream<streams.ReadReq, streams.ReadResp>;

const { BACKWARDS } = streams.ReadReq.Options.ReadDirection;

/** Reads and subscriptions: one call of the protocol serves them all. */
export class Reads {
  readonly open = new Set<ReadCall>();

  constructor(
    private readonly log: EventLog,
    private readonly faults: Faults,
  ) {}

  async read(call: ReadCall): Promise<void> {
    this.open.add(call);
    const done = () => this.open.delete(call);
    call.on('close', done);
    call.on('finish', done);
    call.on('cancelled', done);
    call.on('error', () => undefined);
    try {
      await this.faults.patience();
      const options = call.request.getOptions();
      if (!options) return fail(call, unknown());
      const { leader } = this.faults;
      if (leader && call.metadata.get('requires-leader').length > 0) return fail(call, notLeader(leader));
      if (options.hasSubscription()) await this.subscribe(call, options);
      else if (options.hasStream()) await this.readStream(call, options);
      else await this.readAll(call, options);
    } catch {
      fail(call, unknown());
    }
  }

  /** Ends every read and subscription that is under way. */
  kill(reason: () => ServiceError): void {
    for (const call of [...this.open]) fail(call, reason());
    this.open.clear();
  }

  private async readStream(call: ReadCall, options: streams.ReadReq.Options): Promise<void> {
    const asked = options.getStream();
    const name = nameOf(asked?.getStreamIdentifier());
    const stream = this.log.stream(name);
    if (stream === 'deleted') return fail(call, streamDeleted(name));
    if (stream === 'not_found') {
      const missing = new streams.ReadResp.StreamNotFound();
      missing.setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(name)));
      call.write(new streams.ReadResp().setStreamNotFound(missing));
      return void call.end();
    }
    const backwards = options.getReadDirection() === BACKWARDS;
    const last = BigInt(stream.records.length) - 1n;
    let from = asked?.hasRevision() ? BigInt(asked.getRevision()) : asked?.hasEnd() ? last : 0n;
    if (backwards) from = from > last ? last : from;
    else from = from < stream.first ? stream.first : from;
    let left = BigInt(options.getCount());
    // By what was there at the start: what comes meanwhile is not read.
    for (let at = from; left > 0n && at <= last && at >= stream.first; at += backwards ? -1n : 1n, left -= 1n) {
      const record = stream.records[Number(at)];
      // A hole is where somebody took an event out of the files; its number stays free.
      if (record && !(await this.send(call, event(record)))) return;
    }
    call.end();
  }

  /** Takes a filter along and ignores it, as the server does. */
  private async readAll(call: ReadCall, options: streams.ReadReq.Options): Promise<void> {
    const asked = options.getAll();
    const backwards = options.getReadDirection() === BACKWARDS;
    const { all } = this.log;
    const end = all.length;
    let index = backwards ? end - 1 : 0;
    if (asked?.hasPosition()) {
      const found = this.log.indexOf(BigInt(asked.getPosition()?.getCommitPosition() ?? -1));
      if (found === undefined) return fail(call, unknown());
      index = backwards ? found - 1 : found;
    } else if (asked?.hasEnd() && !backwards) index = end;
    for (let left = BigInt(options.getCount()); left > 0n && index >= 0 && index < end; left -= 1n) {
      if (!(await this.send(call, event(all[index]!)))) return;
      index += backwards ? -1 : 1;
    }
    call.end();
  }

  private async subscribe(call: ReadCall, options: streams.ReadReq.Options): Promise<void> {
    const asked = options.getAll();
    if (!asked) return fail(call, unimplemented('A subscription to one stream'));
    const { all } = this.log;
    let index = asked.hasEnd() ? all.length : 0;
    if (asked.hasPosition()) {
      const found = this.log.indexOf(BigInt(asked.getPosition()?.getCommitPosition() ?? -1));
      if (found === undefined) return fail(call, unknown());
      index = found + 1;
    }
    const filter = options.getFilter();
    const passes = passesOf(filter);
    const every = (filter?.getMax() || 32) * (filter?.getCheckpointintervalmultiplier() || 1);
    const confirmation = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(crypto.randomUUID());
    await this.send(call, new streams.ReadResp().setConfirmation(confirmation));
    let caughtUp = false;
    const { generation } = this.faults;
    const isMute = () => this.faults.muted || this.faults.generation !== generation;
    for (let seen = 0; !call.cancelled && !call.destroyed;) {
      const record = all[index];
      if (record && !isMute()) {
        index += 1;
        if (passes(record) && !(await this.send(call, event(record)))) return;
        seen += 1;
        if (filter && seen % every === 0 && !(await this.send(call, checkpoint(record)))) return;
      } else if (!caughtUp && !isMute()) {
        caughtUp = true;
        if (!(await this.send(call, new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp())))) return;
      } else {
        await this.more(call);
      }
    }
  }

  private more(call: ReadCall): Promise<void> {
    return new Promise((resolve) => {
      const forget = this.log.news.once(() => done());
      const done = (): void => {
        forget();
        call.off('cancelled', done);
        call.off('close', done);
        resolve();
      };
      call.on('cancelled', done);
      call.on('close', done);
    });
  }

  /** False when nobody is there any more. */
  private async send(call: ReadCall, message: streams.ReadResp): Promise<boolean> {
    await this.faults.patience();
    if (call.cancelled || call.destroyed || call.writableEnded) return false;
    if (call.write(message)) return true;
    return new Promise((resolve) => {
      const settle = (goesOn: boolean) => (): void => {
        call.off('drain', drained);
        call.off('cancelled', gone);
        call.off('close', gone);
        resolve(goesOn);
      };
      const [drained, gone] = [settle(true), settle(false)];
      call.on('drain', drained);
      call.on('cancelled', gone);
      call.on('close', gone);
    });
  }
}

function fail(call: ReadCall, error: ServiceError): void {
  // The status goes out behind what was written before.
  if (!call.cancelled && !call.destroyed && !call.writableEnded) call.emit('error', error);
}

function event(record: Recorded): streams.ReadResp {
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(record.id))
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(record.stream)))
    .setStreamRevision(String(record.revision))
    .setPreparePosition(String(record.position))
    .setCommitPosition(String(record.position))
    .setData(record.data)
    .setCustomMetadata(record.metadata);
  const map = recorded.getMetadataMap();
  map.set('type', record.type).set('content-type', record.contentType).set('created', String(record.created));
  const read = new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(String(record.position));
  return new streams.ReadResp().setEvent(read);
}

function checkpoint({ position }: Recorded): streams.ReadResp {
  const place = new streams.ReadResp.Checkpoint();
  return new streams.ReadResp().setCheckpoint(
    place.setCommitPosition(String(position)).setPreparePosition(String(position)),
  );
}

function passesOf(filter: streams.ReadReq.Options.FilterOptions | undefined): (record: Recorded) => boolean {
  if (!filter) return () => true;
  const expression = filter.hasStreamIdentifier() ? filter.getStreamIdentifier() : filter.getEventType();
  const subject = (record: Recorded) => (filter.hasStreamIdentifier() ? record.stream : record.type);
  const prefixes = expression?.getPrefixList() ?? [];
  if (prefixes.length > 0) return (record) => prefixes.some((prefix) => subject(record).startsWith(prefix));
  const pattern = new RegExp(expression?.getRegex() ?? '');
  return (record) => pattern.test(subject(record));
}
