import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import type {
  AppendOutcome,
  EventStore,
  ExpectedRevision,
  JsonObject,
  NewEvent,
  StoredEvent,
  SubscriptionBatch,
} from '../src';

/** What an adapter's own spec makes for the suite. */
export interface StoreUnderTest {
  readonly store: EventStore;
  /** Another store on the same data, as a process that started later has it. The caller closes it. */
  readonly another?: () => Promise<EventStore>;
  /** The server is a real one that others write to as well: its log is not empty at the start. */
  readonly isShared?: true;
  readonly faults?: {
    /** Breaks every connection of the store, now. */
    readonly cutConnections: () => Promise<void>;
  };
  /** Closes the store and removes its data. */
  readonly dispose: () => Promise<void>;
}

export type StoreFactory = () => Promise<StoreUnderTest>;

/** Hands the store of the running suite to a group of rules. */
export type Subject = () => StoreUnderTest;

let streams = 0;

/** A stream that no other test uses: a suite shares one store. */
export function newStream(prefix = 'contract'): string {
  return `${prefix}-${++streams}-${v7()}`;
}

export function event(data: JsonObject = {}, type = 'Happened', metadata: JsonObject = {}): NewEvent {
  return { id: v7(), type, data, metadata };
}

export function events(count: number, type = 'Happened'): NewEvent[] {
  return Array.from({ length: count }, (_, n) => event({ n }, type));
}

export async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of iterable) all.push(item);
  return all;
}

/** What was written, without what the store added. */
export function written({ id, type, data, metadata }: StoredEvent): NewEvent {
  return { id, type, data, metadata };
}

export function revisions(all: readonly StoredEvent[]): number[] {
  return all.map(({ revision }) => Number(revision));
}

export async function mustStore(
  store: EventStore,
  stream: string,
  expected: ExpectedRevision,
  list: readonly NewEvent[],
): Promise<Extract<AppendOutcome, { outcome: 'stored' }>> {
  const answer = await store.append(stream, expected, list);
  if (answer.outcome !== 'stored') {
    throw new Error(`A conflict on ${stream}: ${answer.expected} was expected, it stands at ${answer.actual}.`);
  }
  return answer;
}

/** Appends one at a time, as a writer of its own does, `count` appends of one to three events. `onStored` is told of each. */
export async function write(
  store: EventStore,
  stream: string,
  count: number,
  onStored: () => void = () => undefined,
): Promise<bigint> {
  let at: ExpectedRevision = 'no_stream';
  for (let n = 0; n < count; n++) {
    at = (await mustStore(store, stream, at, events(1 + (n % 3)))).revision;
    onStored();
  }
  return at === 'no_stream' ? -1n : at;
}

/**
 * Breaks something again and again while work goes on, each time once `progress` was told of since: nobody promises that work comes to an
 * end where a slow machine gets nothing done between two breaks.
 */
export async function whileBreaking<T>(
  breakOnce: (n: number) => Promise<void>,
  work: (progress: () => void) => Promise<T>,
): Promise<T> {
  let [steps, isOver] = [0, false];
  const breaking = (async () => {
    for (let n = 0; !isOver; n++) {
      const before = steps;
      await breakOnce(n);
      while (!isOver && steps === before) await sleep(1);
    }
  })();
  try {
    return await work(() => void (steps += 1));
  } finally {
    isOver = true;
    await breaking;
  }
}

/** Follows a subscription in the background. `until` settles once what came satisfies it; `stop` ends the subscription. */
export function follow(
  store: EventStore,
  options: Omit<Parameters<EventStore['subscribe']>[0] & object, 'signal'> = {},
) {
  const stopping = new AbortController();
  const batches: SubscriptionBatch[] = [];
  const read: StoredEvent[] = [];
  const ended = (async () => {
    for await (const batch of store.subscribe({ ...options, signal: stopping.signal })) {
      batches.push(batch);
      read.push(...batch.events);
    }
  })();
  ended.catch(() => undefined);
  return {
    batches,
    read,
    ended,
    until: (fulfilled: () => boolean) =>
      Promise.race([waitUntil(fulfilled), ended.then(() => waitUntil(fulfilled, 0))]),
    async stop(): Promise<void> {
      stopping.abort();
      await ended;
    },
  };
}

export async function waitUntil(fulfilled: () => boolean, ms = 20_000): Promise<void> {
  for (const start = performance.now(); !fulfilled(); await sleep(5)) {
    if (performance.now() - start > ms) throw new Error(`It did not come to be within ${ms} ms: ${String(fulfilled)}`);
  }
}

/** Each event once, and each stream from its beginning in order. */
export function expectEachStreamInOrder(read: readonly StoredEvent[]): void {
  const next = new Map<string, bigint>();
  let position = -1n;
  for (const { stream, revision, position: at } of read) {
    expect([stream, revision]).toEqual([stream, next.get(stream) ?? 0n]);
    expect(at > position).toBe(true);
    next.set(stream, revision + 1n);
    position = at;
  }
}
