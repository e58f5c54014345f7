import type { EventStore } from '@palimpsest/event-store';
import { EventStoreDbEventStore, NamespacedEventStore } from '@palimpsest/event-store-eventstoredb';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import type { Config, Logger, Pool } from '@palimpsest/platform';
import { keepToOneLog } from './one-log';

export interface Log {
  readonly store: EventStore;
  /** Where the log lives, for a person. Without credentials. */
  readonly where: string;
  /** Waits for a server that does not answer yet, and says so in the process's log. False: the signal came first. */
  untilReachable(signal: AbortSignal): Promise<boolean>;
}

/** The log of this installation: the EventStoreDB of EVENTSTORE_URL, else Postgres. */
export async function openLog(config: Config, pool: Pool, log: Logger): Promise<Log> {
  const { eventStoreUrl: url, eventStoreNamespace: namespace } = config;
  const { logTryTimeoutMs: tryTimeoutMs, logAppendTimeoutMs: appendTimeoutMs } = config.limits;
  const limits = { tryTimeoutMs, appendTimeoutMs };
  await keepToOneLog(pool, url === undefined ? { kind: 'postgres' } : { kind: 'eventstoredb', namespace });
  if (url === undefined)
    return { store: new PostgresEventStore(pool, limits), where: 'Postgres', untilReachable: async () => true };
  const store = new EventStoreDbEventStore({ url, log, limits });
  return {
    store: namespace === undefined ? store : new NamespacedEventStore(store, namespace),
    where: 'the EventStoreDB of EVENTSTORE_URL',
    untilReachable: (signal) => store.untilReachable(signal),
  };
}
