import { Metrics, migrations, Projectors } from '@palimpsest/application';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { createLogger, createPool, migrate, type Pool } from '@palimpsest/platform';
import { LiveTables, type Projection, ProjectionLocks, Projector } from '@palimpsest/read-models';
import { appendHistory } from '../support/generated-history';
import type { Row, Section } from './rows';

const log = createLogger('silent');

/** Building every read model from the start of the log, beside reading and parsing the same log and nothing else. */
export async function measureRebuilds(
  databaseUrl: string,
  events: number,
  progress: (text: string) => void,
): Promise<Section> {
  const pool = createPool({ url: databaseUrl, applicationName: 'bench', log, max: 12 });
  const store = new PostgresEventStore(pool);
  try {
    await PostgresEventStore.migrate(pool);
    await migrate(pool, migrations);
    progress(`${events.toLocaleString('en')} events are appended.`);
    const count = await appendHistory(store, events);
    await pool.query('vacuum analyze event_log.events');
    const read = await timed(async () => {
      for await (const {} of store.readAll({ filter: { streamPrefixes: ['conversation-'] } })) continue;
    });
    const rows: Row[] = [];
    const all = new Projectors({ pool, store, log, metrics: new Metrics(), writes: false }).all;
    for (const { projection } of all) {
      progress(`${projection.name} is built.`);
      const before = memory();
      let peak = before;
      const watch = setInterval(() => (peak = Math.max(peak, memory())), 50);
      const built = await timed(() => build(pool, store, projection));
      clearInterval(watch);
      rows.push({
        what: `${projection.name}: a rebuild to a bare read`,
        ratio: built / read,
        detail: `${perSecond(count, built)} events/s to ${perSecond(count, read)} read; memory ${before} MiB before, ${peak} at most`,
      });
    }
    return {
      title: `Read models built from the start of a log of ${count.toLocaleString('en')} events`,
      how: 'One after the other, each in one process beside Postgres; a bare read takes the same events in pages and parses them.',
      rows,
    };
  } finally {
    await store.close();
    await pool.end();
  }
}

async function build(pool: Pool, store: PostgresEventStore, projection: Projection): Promise<void> {
  const locks = new ProjectionLocks(pool, 'bench');
  const tables = new LiveTables(pool, projection);
  const projector = new Projector({
    ...{ pool, store, projection, locks, tables },
    onError: (error) => console.error(error),
  });
  const end = await store.lastPosition();
  projector.start();
  while (projector.position < end) await projector.moved(1_000);
  await projector.stop();
  await locks.close();
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

const memory = (): number => Math.round(process.memoryUsage().rss / 1024 / 1024);
const perSecond = (count: number, seconds: number): string => Math.round(count / seconds).toLocaleString('en');
