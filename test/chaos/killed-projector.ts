import { Metrics, migrations, Projectors } from '@palimpsest/application';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { createLogger, createPool, migrate, withTransaction } from '@palimpsest/platform';
import { beginGeneration, find } from '@palimpsest/read-models';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '../support/child';
import { appendHistory } from '../support/generated-history';
import { faultsOfReadModels } from '../support/rebuild';

const projector = `
const { createLogger, createPool } = require('@palimpsest/platform');
const { PostgresEventStore } = require('@palimpsest/event-store-postgres');
const { Metrics, Projectors } = require('@palimpsest/application');
const log = createLogger('silent');
const pool = createPool({ url: process.argv[1], applicationName: 'killed', log, max: 12 });
const projectors = new Projectors({ pool, store: new PostgresEventStore(pool), log, metrics: new Metrics(), writes: true });
projectors.start();
console.log('runs');
`;

export interface KilledProjector {
  readonly kills: number;
  readonly events: number;
  /** Generations that took the place of the one before, over all projections. */
  readonly swaps: number;
  /** Where the read models differ from those built from nothing in one go. */
  readonly faults: readonly string[];
}

/** Kills the projector's process at random instants, while events come in and projections are rebuilt, and compares in the end. */
export async function killProjector(
  databaseUrl: string,
  kills: number,
  eventsPerKill: number,
  onKill: (kills: number) => void = () => undefined,
): Promise<KilledProjector> {
  const log = createLogger('silent');
  const pool = createPool({ url: databaseUrl, applicationName: 'chaos', log, max: 12 });
  const store = new PostgresEventStore(pool);
  let child: Child | undefined;
  try {
    await PostgresEventStore.migrate(pool);
    await migrate(pool, migrations);
    let events = 0;
    const { all } = new Projectors({ pool, store, log, metrics: new Metrics(), writes: false });
    for (let kill = 0; kill < kills; kill += 1) {
      child = startChild(projector, databaseUrl);
      await child.line();
      for (const { projection } of all) await withTransaction(pool, (client) => beginGeneration(client, projection));
      const appending = appendHistory(store, eventsPerKill);
      await sleep(Math.random() * 600);
      await child.kill('SIGKILL');
      events += await appending;
      onKill(kill + 1);
    }
    child = startChild(projector, databaseUrl);
    await child.line();
    const end = await store.lastPosition();
    for (const { projection } of all)
      for (const until = Date.now() + 240_000; Date.now() < until; await sleep(50)) {
        const [live, building] = await Promise.all([
          find(pool, projection, 'live'),
          find(pool, projection, 'building'),
        ]);
        if (!building && (live?.position ?? -1n) >= end) break;
      }
    const { rows } = await pool.query<{ swaps: number }>(
      `select count(*)::int as swaps from read.generations where state = 'old'`,
    );
    return { kills, events, swaps: rows[0]?.swaps ?? 0, faults: await faultsOfReadModels(store, pool) };
  } finally {
    await child?.kill('SIGKILL');
    await store.close();
    await pool.end();
  }
}
