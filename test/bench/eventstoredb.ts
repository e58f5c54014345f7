import { EventStoreDBClient, jsonEvent, NO_STREAM, START } from '@eventstore/db-client';
import { EventStoreDbEventStore } from '@palimpsest/event-store-eventstoredb';
import { randomBytes, randomUUID } from 'node:crypto';
import { EventStoreDbProcess } from '../support/eventstoredb';
import { median, type Row, type Section } from './rows';

const WRITERS = [1, 16, 64] as const;
const ROUNDS = 15;
const ROUND_MS = 400;
const WARM_UP_MS = 1_000;
const STREAM_EVENTS = 400;
const READS = 60;
const AIM = { least: 0.9 };

/**
 * The adapter to the bare client on the same server, taking turns: the one that EVENTSTORE_URL names, else a server of the tests that speaks
 * the protocol, in a process of its own.
 */
export async function measureEventStoreDb(): Promise<Section> {
  const real = process.env['EVENTSTORE_URL'];
  const server = real === undefined ? await EventStoreDbProcess.start() : undefined;
  const url = real ?? server?.url ?? '';
  const store = new EventStoreDbEventStore({ url });
  const client = EventStoreDBClient.connectionString(url);
  try {
    const rows: Row[] = [];
    for (const writers of WRITERS) rows.push(await measureAppends(store, client, writers));
    rows.push(await measureReads(store, client));
    return {
      title: 'EventStoreDB: the adapter to the bare client on the same server',
      how: `Events of 600 bytes, each writer to a stream of its own, in turns. The server is ${real === undefined ? 'the stand-in of the tests, which keeps its log in memory' : 'the one of EVENTSTORE_URL'}.`,
      rows,
    };
  } finally {
    await store.close();
    await client.dispose();
    await server?.close();
  }
}

async function measureAppends(
  store: EventStoreDbEventStore,
  client: EventStoreDBClient,
  writers: number,
): Promise<Row> {
  const ours = streams(writers);
  const append = async (writer: number): Promise<void> => {
    const stream = ours[writer]!;
    const answer = await store.append(stream.name, stream.revision < 0n ? 'no_stream' : stream.revision, [
      { id: randomUUID(), type: 'Measured', data: { sealed: someBase64() }, metadata: {} },
    ]);
    if (answer.outcome !== 'stored') throw new Error('The append of the bench met a conflict.');
    stream.revision = answer.revision;
  };
  const theirs = streams(writers);
  const bare = async (writer: number): Promise<void> => {
    const stream = theirs[writer]!;
    const event = jsonEvent({ id: randomUUID(), type: 'Measured', data: { sealed: someBase64() }, metadata: {} });
    const expectedRevision = stream.revision < 0n ? NO_STREAM : stream.revision;
    stream.revision = (await client.appendToStream(stream.name, event, { expectedRevision })).nextExpectedRevision;
  };
  await perSecond(writers, append, WARM_UP_MS);
  await perSecond(writers, bare, WARM_UP_MS);
  const [appends, bares]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    appends.push(await perSecond(writers, append, ROUND_MS));
    bares.push(await perSecond(writers, bare, ROUND_MS));
  }
  return {
    what: `${writers} writer${writers === 1 ? '' : 's'}: appends to the bare client's`,
    ratio: median(appends) / median(bares),
    aim: AIM,
    detail: `${Math.round(median(appends))}/s to ${Math.round(median(bares))}/s`,
  };
}

async function measureReads(store: EventStoreDbEventStore, client: EventStoreDBClient): Promise<Row> {
  const [stream] = streams(1);
  const { name } = stream!;
  for (let n = 0; n < STREAM_EVENTS; n += 1)
    await store.append(name, n === 0 ? 'no_stream' : BigInt(n - 1), [
      { id: randomUUID(), type: 'Measured', data: { sealed: someBase64() }, metadata: {} },
    ]);
  const read = async (): Promise<void> => expectAll(store.readStream(name));
  const bare = async (): Promise<void> => expectAll(client.readStream(name, { fromRevision: START }));
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let n = 0; n < READS; n += 1) {
    ours.push(await msOf(read));
    theirs.push(await msOf(bare));
  }
  return {
    what: `a stream of ${STREAM_EVENTS} events read, to the bare client`,
    ratio: median(theirs) / median(ours),
    aim: AIM,
    detail: `${median(ours).toFixed(1)} ms to ${median(theirs).toFixed(1)} ms`,
  };
}

async function expectAll(events: AsyncIterable<unknown>): Promise<void> {
  let count = 0;
  for await (const event of events) count += event === undefined ? 0 : 1;
  if (count !== STREAM_EVENTS) throw new Error(`The bench read ${count} of ${STREAM_EVENTS} events.`);
}

async function msOf(act: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

async function perSecond(writers: number, act: (writer: number) => Promise<void>, ms: number): Promise<number> {
  const start = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (; performance.now() - start < ms; done += 1) await act(writer);
    }),
  );
  return (done * 1_000) / (performance.now() - start);
}

const streams = (count: number) =>
  Array.from({ length: count }, () => ({ name: `bench-${randomUUID()}`, revision: -1n }));

/** Such that the event's data are 600 bytes of JSON. */
const someBase64 = (): string => randomBytes(441).toString('base64');
