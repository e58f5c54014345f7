import { type EventUnreadable, followLog, type StoredEvent, StoreUnavailable } from '@palimpsest/event-store';
import {
  collect,
  event,
  events,
  expectEachStreamInOrder,
  follow,
  mustStore,
  newStream,
  revisions,
  waitUntil,
  whileBreaking,
  write,
} from '@palimpsest/event-store/contract';
import type { Recorded } from '../../../test/support/eventstoredb';
import { openLog, shortTimes, type TestLog } from '../testing';

let log: TestLog;
beforeAll(async () => {
  log = await openLog();
});
afterEach(() => log.server.faults.clear());
afterAll(() => log.dispose());

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('a read that breaks', () => {
  it('goes on where it was, forwards and backwards', async () => {
    const stream = newStream();
    let at: 'no_stream' | bigint = 'no_stream';
    for (let n = 0; n < 10; n++) {
      const list = Array.from({ length: 20 }, () => event({ text: 'x'.repeat(20_000) }));
      at = (await mustStore(log.store, stream, at, list)).revision;
    }
    for (const direction of ['forwards', 'backwards'] as const) {
      const read: number[] = [];
      for await (const { revision } of log.store.readStream(stream, { direction })) {
        read.push(Number(revision));
        if (read.length % 60 === 30) log.server.killReads();
        if (read.length === 60) await log.server.restart(20);
      }
      expect(read).toEqual(direction === 'forwards' ? upTo(200) : upTo(200).reverse());
      const all: number[] = [];
      const filter = { streamPrefixes: [stream] };
      for await (const { revision } of log.store.readAll({ direction, filter })) {
        all.push(Number(revision));
        if (all.length % 60 === 30) log.server.killReads();
      }
      expect(all).toEqual(read);
    }
  });

  it('says after some tries that the store is away, be it silent or gone', async () => {
    const store = log.another({ ...shortTimes, tryTimeoutMs: 100 });
    log.server.faults.freeze();
    await expect(store.lastPosition()).rejects.toThrow(StoreUnavailable);
    await expect(collect(store.readStream(newStream()))).rejects.toThrow(StoreUnavailable);
    log.server.faults.thaw();
    log.server.stop();
    await expect(store.lastPosition()).rejects.toThrow(StoreUnavailable);
    await log.server.listen();
    await store.lastPosition();
  });

  it('a server that is down at the start is waited for, and the operator is told', async () => {
    log.server.stop();
    const store = log.another();
    let isThere = false;
    const waiting = store.untilReachable(new AbortController().signal).then((answer) => (isThere = answer));
    await waitUntil(() => log.said.some((text) => /does not answer yet; waiting/.test(text)));
    expect(isThere).toBe(false);
    await log.server.listen();
    expect(await waiting).toBe(true);
    expect(log.said.at(-1)).toBe('EventStoreDB answers');
    expect(await log.another().untilReachable(AbortSignal.abort())).toBe(false);
  });
});

describe('positions', () => {
  it('of no event are read from and followed all the same', async () => {
    const stream = newStream();
    const first = await mustStore(log.store, stream, 'no_stream', events(2));
    const second = await mustStore(log.store, stream, 1n, events(2));
    const filter = { streamPrefixes: [stream] };
    const between = first.position + 1n;
    expect(revisions(await collect(log.store.readAll({ after: between, filter })))).toEqual([2, 3]);
    expect(revisions(await collect(log.store.readAll({ after: between, filter, direction: 'backwards' })))).toEqual([
      1, 0,
    ]);
    expect(await collect(log.store.readAll({ after: second.position + 1n }))).toEqual([]);
    const reader = follow(log.store, { after: between, filter });
    await reader.until(() => reader.read.length >= 2);
    await mustStore(log.store, stream, 3n, events(1));
    await reader.until(() => reader.read.length >= 3);
    await reader.stop();
    expect(revisions(reader.read)).toEqual([2, 3, 4]);
  });

  it("pass over the server's own events", async () => {
    const start = await log.store.lastPosition();
    const stream = newStream();
    await mustStore(log.store, stream, 'no_stream', events(1));
    log.server.log.softDelete(stream);
    const { position } = await mustStore(log.store, newStream(), 'no_stream', events(1));
    log.server.log.tombstone(newStream());
    expect(await collect(log.store.readAll({ after: start }))).toHaveLength(2);
    expect(await log.store.lastPosition()).toBe(position);
    const reader = follow(log.store, { after: start });
    await reader.until(() => reader.batches.at(-1)?.caughtUp === true);
    await reader.stop();
    expect(reader.read).toHaveLength(2);
  });
});

it('gives back exactly the metadata that was appended, in reads, backwards and in subscriptions, and keeps its own apart', async () => {
  const start = await log.store.lastPosition();
  const stream = newStream();
  const metadata = [{}, { rest: 1, $res: 2 }, { $correlationId: 'x', nested: { $rest: 7 } }, { '1': 'a', b: null }];
  const list = metadata.map((own) => ({ ...event(), metadata: own }));
  await mustStore(log.store, stream, 'no_stream', list);
  for (const read of [log.store.readStream(stream), log.store.readAll({ after: start })])
    expect((await collect(read)).map((stored) => stored.metadata)).toStrictEqual(metadata);
  const backwards = await collect(log.store.readStream(stream, { direction: 'backwards' }));
  expect(backwards.map((stored) => stored.metadata)).toStrictEqual([...metadata].reverse());
  const reader = follow(log.store, { after: start });
  await reader.until(() => reader.read.length === metadata.length);
  await reader.stop();
  expect(reader.read.map((stored) => stored.metadata)).toStrictEqual(metadata);

  const kept = log.server.log.stream(stream) as { records: readonly Recorded[] };
  const stored = kept.records.map((record) => JSON.parse(Buffer.from(record.metadata).toString()) as object);
  expect(stored).toEqual(metadata.map((own, index) => (index < 3 ? { ...own, $rest: 3 - index } : own)));
  const own = { ...event(), metadata: { $rest: 1 } };
  await expect(log.store.append(newStream(), 'no_stream', [own])).rejects.toMatchObject({ name: 'InvalidEvent' });
});

it('what another program wrote comes as it is; what is no JSON object is unreadable at its place, and can be passed over', async () => {
  const start = await log.store.lastPosition();
  const stream = newStream();
  const bytes = (text: string) => Buffer.from(text);
  const foreign = (data: string, contentType = 'application/json', metadata = '') => ({
    ...{ id: crypto.randomUUID(), type: 'Foreign', contentType, data: bytes(data), metadata: bytes(metadata) },
  });
  const octets = 'application/octet-stream';
  const list = [foreign('{"a":1}'), foreign('[1]'), foreign('{"a":'), foreign('\xff', octets), foreign('{}', octets)];
  log.server.log.append(stream, 'no_stream', [
    ...list,
    foreign('{}', 'application/json', '{"half'),
    foreign('{"b":2}'),
  ]);
  expect(await collect(log.store.readStream(stream, { limit: 1 }))).toMatchObject([{ data: { a: 1 }, metadata: {} }]);
  for (const from of [1n, 2n, 3n, 4n, 5n])
    for (const read of [log.store.readStream(stream, { from, limit: 1 }), log.store.readStream(stream, { from })])
      await expect(collect(read)).rejects.toMatchObject({ name: 'EventUnreadable', place: { stream, revision: from } });
  expect(await collect(log.store.readStream(stream, { from: 6n }))).toMatchObject([{ data: { b: 2 } }]);

  const passed: bigint[] = [];
  const read: StoredEvent[] = [];
  const onUnreadable = ({ place }: EventUnreadable) => void passed.push(place.revision);
  for await (const { events } of followLog(log.store, { after: start, onUnreadable }))
    if (read.push(...events) === 2) break;
  expect(read.map(({ revision }) => revision)).toEqual([0n, 6n]);
  expect(passed).toEqual([1n, 2n, 3n, 4n, 5n]);
});

describe('a subscription', () => {
  it('that breaks again and again loses nothing and repeats nothing', async () => {
    const start = await log.store.lastPosition();
    const reader = follow(log.store, { after: start });
    const filtered = follow(log.store, { after: start, filter: { streamPrefixes: ['broken'] } });
    const streams = Array.from({ length: 8 }, () => newStream('broken'));
    const breakOnce = async (n: number) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      if (n % 4 === 3) await log.server.restart(20);
      else log.server.killReads();
    };
    const lasts = await whileBreaking(breakOnce, (onStored) =>
      Promise.all(streams.map((stream) => write(log.another(), stream, 40, onStored))),
    );
    const total = lasts.reduce((sum, last) => sum + Number(last) + 1, 0);
    for (const one of [reader, filtered]) {
      await one.until(() => one.read.length >= total);
      await one.stop();
      expect(one.read).toHaveLength(total);
      expectEachStreamInOrder(one.read);
    }
    expect(log.said).toContain('a subscription to EventStoreDB broke; it is tried again');
    expect(log.said).toContain('a subscription to EventStoreDB goes on');
  });

  it('that dies in silence is noticed, and goes on without loss', async () => {
    const start = await log.store.lastPosition();
    const stream = newStream();
    const reader = follow(log.store, { after: start, filter: { streamPrefixes: [stream] } });
    await mustStore(log.store, stream, 'no_stream', events(2));
    await reader.until(() => reader.read.length >= 2);
    log.server.faults.muted = true;
    await mustStore(log.store, stream, 1n, events(3));
    await new Promise((resolve) => setTimeout(resolve, 100));
    // New subscriptions speak; the one that is open never does again.
    log.server.faults.forgetOpenSubscriptions();
    await reader.until(() => reader.read.length >= 5);
    await reader.stop();
    expect(revisions(reader.read)).toEqual([0, 1, 2, 3, 4]);
  });

  it('outlives a server that is frozen for a while', async () => {
    const start = await log.store.lastPosition();
    const stream = newStream();
    const reader = follow(log.store, { after: start, filter: { streamPrefixes: [stream] } });
    await reader.until(() => reader.batches.length > 0);
    log.server.faults.freeze();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    log.server.faults.thaw();
    await mustStore(log.store, stream, 'no_stream', events(2));
    await reader.until(() => reader.read.length >= 2);
    await reader.stop();
    expect(revisions(reader.read)).toEqual([0, 1]);
  });

  it('moves its checkpoint past what the server keeps back, few events or many', async () => {
    const start = await log.store.lastPosition();
    const filter = { streamPrefixes: ['nothing-has-this-name'] };
    const reader = follow(log.store, { after: start, filter });
    await reader.until(() => reader.batches.at(-1)?.caughtUp === true);
    const few = await mustStore(log.store, newStream(), 'no_stream', events(3));
    await reader.until(() => reader.batches.at(-1)!.position >= few.position);
    const many = await mustStore(log.store, newStream(), 'no_stream', events(500));
    await reader.until(() => reader.batches.at(-1)!.position >= many.position);
    expect(reader.batches.at(-1)!.caughtUp).toBe(true);
    await reader.stop();
    expect(reader.read).toEqual([]);
    // Such a checkpoint is a place to go on from.
    const next = follow(log.store, { after: reader.batches.at(-1)!.position });
    await mustStore(log.store, newStream(), 'no_stream', events(1));
    await next.until(() => next.read.length >= 1);
    await next.stop();
    expect(next.read).toHaveLength(1);
  });

  it('hands over an append whole though its last events never come: the word of the server that it has caught up is enough', async () => {
    const stream = newStream();
    const start = await log.store.lastPosition();
    const one = { id: crypto.randomUUID(), type: 'Cut', contentType: 'application/json', data: Buffer.from('{}') };
    log.server.log.append(stream, 'no_stream', [{ ...one, metadata: Buffer.from('{"$rest":2}') }]);
    const reader = follow(log.store, { after: start, filter: { streamPrefixes: [stream] } });
    await reader.until(() => reader.read.length >= 1);
    await reader.stop();
    expect(reader.read[0]!.metadata).toEqual({});
  });
});
