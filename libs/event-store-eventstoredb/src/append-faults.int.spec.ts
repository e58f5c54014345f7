import {
  type AppendOutcome,
  AppendTooLarge,
  type EventStore,
  type NewEvent,
  OutcomeUnknown,
} from '@palimpsest/event-store';
import {
  collect,
  event,
  events,
  mustStore,
  newStream,
  waitUntil,
  whileBreaking,
  written,
} from '@palimpsest/event-store/contract';
import { type AppendFault, EventStoreDbProcess } from '../../../test/support/eventstoredb';
import { openLog, patient, shortTimes, type TestLog } from '../testing';
import { EventStoreDbEventStore } from './eventstoredb-event-store';

let log: TestLog;
beforeAll(async () => {
  log = await openLog();
});
afterEach(() => log.server.faults.clear());
afterAll(() => log.dispose());

const read = async (stream: string) => (await collect(log.store.readStream(stream))).map(written);

/** A new stream's append by a store of little patience: on a slow machine its outcome may be unknown, and the same append settles it. */
async function settled(store: EventStore, list: readonly NewEvent[]): Promise<AppendOutcome> {
  for (const stream = newStream(); ;)
    try {
      return await store.append(stream, 'no_stream', list);
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error;
    }
}

describe('an append whose answer is lost', () => {
  const faults: AppendFault[] = [
    'drop_before_commit',
    'drop_after_commit',
    'no_answer',
    'commit_late',
    'deadline',
    'unknown',
  ];
  it.each(faults)('is stored once, and answered: %s', async (fault) => {
    const stream = newStream();
    const [first, second] = [events(2), events(3)];
    await mustStore(log.store, stream, 'no_stream', first);
    log.server.faults.lateMs = 450;
    log.server.faults.failAppends(fault);
    expect(await log.store.append(stream, 1n, second)).toMatchObject({ outcome: 'stored', revision: 4n });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await read(stream)).toEqual([...first, ...second]);
  });

  it('so is the first of a stream, after several breaks of several kinds', async () => {
    const stream = newStream();
    const list = events(2);
    log.server.faults.failAppends('no_answer', 'drop_before_commit', 'deadline', 'drop_after_commit');
    expect(await log.store.append(stream, 'no_stream', list)).toMatchObject({ outcome: 'stored', revision: 1n });
    expect(await read(stream)).toEqual(list);
  });

  it('is answered while the server is restarted again and again', async () => {
    const streams = Array.from({ length: 12 }, () => newStream('restart'));
    const restart = async () => {
      await new Promise((resolve) => setTimeout(resolve, 40));
      await log.server.restart(30);
    };
    const store = log.another();
    const fill = async (stream: string, onStored: () => void) => {
      for (let n = 0; n < 15; n++) {
        await mustStore(store, stream, n === 0 ? 'no_stream' : BigInt(n - 1), events(1));
        onStored();
      }
    };
    await whileBreaking(restart, (onStored) => Promise.all(streams.map((stream) => fill(stream, onStored))));
    for (const stream of streams) expect(await read(stream)).toHaveLength(15);
  });
});

describe('a server that stops answering', () => {
  it('ends an append in time with an unknown outcome; the same append later settles it', async () => {
    const stream = newStream();
    const list = events(2);
    const hasty = log.another(shortTimes);
    await settled(hasty, events(1));
    log.server.faults.freeze();
    const began = performance.now();
    await expect(hasty.append(stream, 'no_stream', list)).rejects.toThrow(OutcomeUnknown);
    expect(performance.now() - began).toBeLessThan(4_500);
    log.server.faults.thaw();
    expect(await log.store.append(stream, 'no_stream', list)).toMatchObject({ outcome: 'stored', revision: 1n });
    expect(await read(stream)).toEqual(list);
  });

  it('does not take the process down, nor does its death: many large appends wait for it in a full call', async () => {
    const crashes: unknown[] = [];
    const crashed = (error: unknown): void => void crashes.push(error);
    process.on('unhandledRejection', crashed);
    const server = await EventStoreDbProcess.start();
    const store = new EventStoreDbEventStore({ url: server.url, limits: { ...shortTimes, appendTimeoutMs: 1_000 } });
    await settled(store, events(1));
    await server.signal('SIGSTOP');
    const text = 'x'.repeat(500_000);
    const answers = Promise.allSettled(
      Array.from({ length: 60 }, () => store.append(newStream(), 'no_stream', [event({ text })])),
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    await server.signal('SIGKILL');
    for (const answer of await answers) expect(answer).toMatchObject({ reason: { name: 'OutcomeUnknown' } });
    await store.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off('unhandledRejection', crashed);
    expect(crashes).toEqual([]);
  });

  it('is used again once it goes on', async () => {
    const server = await EventStoreDbProcess.start();
    const store = new EventStoreDbEventStore({ url: server.url, limits: patient });
    await mustStore(store, newStream(), 'no_stream', events(1));
    await server.signal('SIGSTOP');
    const stream = newStream();
    const answer = store.append(stream, 'no_stream', events(3));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await server.signal('SIGCONT');
    expect(await answer).toMatchObject({ outcome: 'stored', revision: 2n });
    expect(await collect(store.readStream(stream))).toHaveLength(3);
    await store.close();
    await server.close();
  });
});

describe('appends under way together', () => {
  it('a break of another connection of the process is none of theirs', async () => {
    const other = await openLog();
    await mustStore(other.store, newStream(), 'no_stream', events(1));
    log.server.faults.delayMs = 100;
    const stream = newStream();
    const before = log.server.calls.batchAppend;
    const answer = log.store.append(stream, 'no_stream', events(1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    other.server.stop();
    expect(await answer).toMatchObject({ outcome: 'stored', revision: 0n });
    expect(log.server.calls.batchAppend - before).toBeLessThanOrEqual(1);
    await other.dispose();
  });

  it('one that is answered slowly is answered, though the next try was sent by then', async () => {
    log.server.faults.delayMs = 400; // before it is looked at, and again before the answer
    const stream = newStream();
    expect(await log.store.append(stream, 'no_stream', events(1))).toMatchObject({ outcome: 'stored', revision: 0n });
    log.server.faults.clear();
    expect(await read(stream)).toHaveLength(1);
  });

  it('an answer that comes when nobody waits for it any more is dropped', async () => {
    const stream = newStream();
    const impatient = log.another({ ...shortTimes, appendTimeoutMs: 100, tryTimeoutMs: 100 });
    await settled(impatient, events(1));
    log.server.faults.delayMs = 300;
    await expect(impatient.append(stream, 'no_stream', events(1))).rejects.toThrow(OutcomeUnknown);
    await waitUntil(() => log.server.log.stream(stream) !== 'not_found');
    // Before its answer the server waits once more.
    await new Promise((resolve) => setTimeout(resolve, 400));
    log.server.faults.clear();
    expect(await settled(impatient, events(1))).toMatchObject({ outcome: 'stored' });
    expect(await read(stream)).toHaveLength(1);
  });

  it('one that is too large goes nowhere, and takes none along: its metadata counts for the message', async () => {
    const before = log.server.calls.batchAppend;
    const streams = Array.from({ length: 8 }, () => newStream());
    const huge = event({}, 'Large', { text: 'x'.repeat(17_000_000) });
    const answers = await Promise.allSettled([
      ...streams.map((stream) => log.store.append(stream, 'no_stream', events(1))),
      log.store.append(newStream(), 'no_stream', [huge]),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([...streams.map(() => 'fulfilled'), 'rejected']);
    expect(answers.at(-1)).toMatchObject({ reason: expect.any(AppendTooLarge) });
    expect(log.server.calls.batchAppend - before).toBeLessThanOrEqual(1);
  });

  it('one that the server finds too large, by a limit of its own, is told so, and takes none along', async () => {
    // A server of its own, and tries of seconds: a second try is none that the refusal could go to.
    const own = await openLog({});
    const streams = Array.from({ length: 4 }, () => newStream());
    own.server.faults.failAppends('too_large');
    const answers = await Promise.allSettled(streams.map((stream) => own.store.append(stream, 'no_stream', events(1))));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({ reason: expect.any(AppendTooLarge) });
    await own.dispose();
  });
});

describe('another leader', () => {
  it('is found by a read, and appended to', async () => {
    const leader = await openLog();
    const follower = await openLog();
    const stream = newStream();
    const list = events(2);
    await mustStore(leader.store, stream, 'no_stream', list);
    follower.server.faults.leader = { address: '127.0.0.1', port: leader.server.port };
    expect((await collect(follower.store.readStream(stream))).map(written)).toEqual(list);
    await mustStore(follower.store, stream, 1n, events(1));
    expect(await collect(leader.store.readStream(stream))).toHaveLength(3);
    await follower.dispose();
    await leader.dispose();
  });

  it('an append that meets one that does not lead is stored all the same', async () => {
    const stream = newStream();
    log.server.faults.failAppends('not_leader');
    log.server.faults.leader = { address: '127.0.0.1', port: log.server.port };
    expect(await log.store.append(stream, 'no_stream', events(1))).toMatchObject({ outcome: 'stored', revision: 0n });
    log.server.faults.clear();
    expect(await read(stream)).toHaveLength(1);
  });
});

describe('streams that were deleted by hand', () => {
  it('a soft-deleted one has no events, and goes on at its next revision', async () => {
    const stream = newStream();
    await mustStore(log.store, stream, 'no_stream', events(3));
    log.server.log.softDelete(stream);
    expect(await read(stream)).toEqual([]);
    const list = events(2);
    const answer = await log.store.append(stream, 'no_stream', list);
    expect(answer).toMatchObject({ outcome: 'stored', revision: 4n });
    expect(await log.store.append(stream, 'no_stream', list)).toEqual(answer);
    expect(await read(stream)).toEqual(list);
  });

  it('a tombstoned one says so, to readers and writers', async () => {
    const stream = newStream();
    await mustStore(log.store, stream, 'no_stream', events(1));
    log.server.log.tombstone(stream);
    await expect(log.store.append(stream, 0n, events(1))).rejects.toThrow(/tombstoned in EventStoreDB/);
    await expect(read(stream)).rejects.toThrow(/tombstoned in EventStoreDB/);
  });
});

it('names of the server are refused before anything is sent', async () => {
  await expect(log.store.append('$settings', 'no_stream', events(1))).rejects.toThrow(/EventStoreDB's own/);
  await expect(log.store.append(newStream(), 'no_stream', [event({}, '$metadata')])).rejects.toThrow(/own/);
  await expect(log.store.append(newStream(), 'no_stream', [event({}, 'A', { $rest: 1 })])).rejects.toThrow(/own/);
});
