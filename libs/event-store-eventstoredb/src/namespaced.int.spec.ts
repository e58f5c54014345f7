import { type EventStore, InMemoryEventStore } from '@palimpsest/event-store';
import { eventStoreContract } from '@palimpsest/event-store/contract';
import { randomUUID } from 'node:crypto';
import { type TestLog, openLog } from '../testing';
import { NamespacedEventStore } from './namespaced';

eventStoreContract('NamespacedEventStore', async () => {
  const log = await openLog({});
  const open = () => new NamespacedEventStore(log.another(), 'ours');
  const theirs = new NamespacedEventStore(log.store, 'theirs');
  await theirs.append('conversation-1', 'no_stream', [happened()]);
  return { store: open(), another: async () => open(), isShared: true, dispose: () => log.dispose() };
});

describe('installations with namespaces of their own on one log', () => {
  let log: TestLog;
  beforeEach(async () => {
    log = await openLog();
  });
  afterEach(() => log.dispose());

  it('never see each other, in whatever way they read, and may use the same names', async () => {
    const [ours, theirs] = ['our', 'our-other'].map((name) => new NamespacedEventStore(log.store, name));
    if (!ours || !theirs) throw new Error('There are two.');
    for (const store of [theirs, ours, theirs]) {
      const last = (await read(store.readStream('conversation-1'))).length;
      const expected = last === 0 ? 'no_stream' : BigInt(last - 1);
      expect(await store.append('conversation-1', expected, [happened()])).toMatchObject({ outcome: 'stored' });
    }
    const [one, two, three] = await read(log.store.readAll());
    expect(one?.stream).toBe('our-other.conversation-1');
    const seen = { ours: [two], theirs: [one, three] };
    for (const [store, events] of [
      [ours, seen.ours],
      [theirs, seen.theirs],
    ] as const) {
      const named = events.map((event) => ({ ...event, stream: 'conversation-1' }));
      expect(await read(store.readAll())).toEqual(named);
      expect(await read(store.readAll({ filter: { streamPrefixes: ['conversation-'] } }))).toEqual(named);
      expect(await read(store.readAll({ filter: { streamPrefixes: ['subject-'] } }))).toEqual([]);
      expect(await read(store.readStream('conversation-1'))).toEqual(named);
      expect(await followed(store)).toEqual(named);
    }
  });
});

it('names an event that cannot be read as those who use the namespace know it', async () => {
  const inner = new InMemoryEventStore();
  const store = new NamespacedEventStore(inner, 'ours');
  await store.append('conversation-1', 'no_stream', [happened()]);
  const [entry] = (inner as unknown as { log: { data: string }[] }).log;
  if (entry) entry.data = '[]';
  await expect(read(store.readAll())).rejects.toMatchObject({ place: { stream: 'conversation-1', revision: 0n } });
});

const happened = () => ({ id: randomUUID(), type: 'Happened', data: {}, metadata: {} });

async function read<T>(events: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** All that is there, as a subscription hands it over. */
async function followed(store: EventStore) {
  const end = await store.lastPosition();
  const all = [];
  for await (const { events, position } of store.subscribe()) {
    all.push(...events);
    if (position >= end) break;
  }
  return all;
}
