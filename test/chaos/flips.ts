import {
  newSigningKey,
  PostgresLog,
  type TamperableLog,
  verifyFlippedBits,
  writeSampleLog,
} from '@palimpsest/audit/testing';
import { EventStoreDbEventStore } from '@palimpsest/event-store-eventstoredb';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { createPool } from '@palimpsest/platform';
import { EventStoreDbServer } from '../support/eventstoredb';
import { EventStoreDbLog } from './eventstoredb-log';
import type { StoreKind } from './fault-site';
import { startPostgres } from './postgres';
import { createDatabases } from './site';

export interface FlipsOptions {
  readonly store: StoreKind;
  readonly places: number;
  readonly seed: number;
  readonly onFlip?: (done: number) => void;
}

/** Places of one call, between which progress is told. Each call has the next seed. */
const PORTION = 25;

/** One flipped bit after another in a log with conversations, payloads and anchors: `verify` must name each. Sentences about what it did not. */
export async function runFlips({ store, places, seed, onFlip }: FlipsOptions): Promise<readonly string[]> {
  const { log, close } = await (store === 'postgres' ? postgresLog() : eventStoreDbLog());
  try {
    const key = newSigningKey();
    const sample = await writeSampleLog(log.store, key);
    async function* outside() {
      yield* sample.anchors;
    }
    const content = { codec: sample.codec, log: { at: async () => [] } };
    const checks = () => ({ content, outside: outside(), trusted: [key.publicKey] });
    for (let done = 0; done < places; done += PORTION) {
      await verifyFlippedBits(log, checks, { places: Math.min(PORTION, places - done), seed: seed + done });
      onFlip?.(Math.min(done + PORTION, places));
    }
    return [];
  } catch (error) {
    return [`a flipped bit in ${store}: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    await close();
  }
}

interface Opened {
  readonly log: TamperableLog;
  close(): Promise<void>;
}

async function postgresLog(): Promise<Opened> {
  const postgres = await startPostgres();
  await createDatabases(postgres.adminUrl, 'flips');
  const pool = createPool({ url: postgres.urlOf('flips'), applicationName: 'flips', log: { warn: () => undefined } });
  await PostgresEventStore.migrate(pool);
  const store = new PostgresEventStore(pool);
  return {
    log: new PostgresLog(store, pool),
    close: async () => {
      await store.close();
      await pool.end();
      await postgres.stop();
    },
  };
}

async function eventStoreDbLog(): Promise<Opened> {
  const server = await EventStoreDbServer.start();
  const store = new EventStoreDbEventStore({ url: server.url });
  return {
    log: new EventStoreDbLog(store, server),
    close: async () => {
      await store.close();
      server.close();
    },
  };
}
