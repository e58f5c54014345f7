import { EventStoreDbServer } from '../../../test/support/eventstoredb';
import { EventStoreDbEventStore, type EventStoreDbLimits } from '../src';

/** Short, so that a test sees them pass. */
export const shortTimes = {
  appendTimeoutMs: 3_000,
  tryTimeoutMs: 300,
  firstLookMs: 50,
  lookMs: 200,
} satisfies Partial<EventStoreDbLimits>;

/** Tries as short, and as much time for an append as a slow machine needs. */
export const patient = { ...shortTimes, appendTimeoutMs: 20_000 };

/** A log on a server of the test's own, with the means to disturb it. */
export interface TestLog {
  readonly server: EventStoreDbServer;
  readonly store: EventStoreDbEventStore;
  /** What the stores said to their operator. */
  readonly said: string[];
  /** A store with a connection of its own on the same log, as another process has it. */
  another(limits?: Partial<EventStoreDbLimits>): EventStoreDbEventStore;
  dispose(): Promise<void>;
}

export async function openLog(limits: Partial<EventStoreDbLimits> = patient): Promise<TestLog> {
  const server = await EventStoreDbServer.start();
  const said: string[] = [];
  const say = (_: unknown, text?: string): void => void said.push(text ?? '');
  const stores: EventStoreDbEventStore[] = [];
  const another = (own: Partial<EventStoreDbLimits> = limits): EventStoreDbEventStore => {
    const store = new EventStoreDbEventStore({ url: server.url, limits: own, log: { info: say, warn: say } });
    stores.push(store);
    return store;
  };
  return {
    ...{ server, store: another(), said, another },
    dispose: async () => {
      server.faults.clear();
      await Promise.all(stores.map((store) => store.close()));
      server.close();
    },
  };
}
