import { createCodec, migrations } from '@palimpsest/application';
import { KeyRing, type Position, PostgresKeyStore } from '@palimpsest/event-store';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { createLogger, createPool, migrate, type Pool } from '@palimpsest/platform';
import { firstGeneration, LiveTables, type Projection, ProjectionLocks, Projector } from '@palimpsest/read-models';
import { randomBytes } from 'node:crypto';
import { appendHistory } from '../support/generated-history';
import { shippedProjections } from '../support/shipped-projections';
import type { Row, Section } from './rows';

const log = createLogger('silent');
const conversations = { streamPrefixes: ['conversation-'] };

/** Every projection that is shipped, all of them built at once from the start of the log, beside reading and opening the same log and nothing else. */
export async function measureRebuilds(
  databaseUrl: string,
  events: number,
  progress: (text: string) => void,
): Promise<Section> {
  await sparesCommits(databaseUrl);
  const pool = createPool({ url: databaseUrl, applicationName: 'bench', log, max: 20 });
  const store = new PostgresEventStore(pool);
  const keys = new KeyRing({ store: new PostgresKeyStore(pool), installation: [randomBytes(32)] });
  const codec = createCodec(store, keys);
  const rows: Row[] = [];
  const add = (row: Row): void => {
    rows.push(row);
    progress(`${row.what}: ${row.ratio.toFixed(2)}  ${row.detail}`);
  };
  try {
    await PostgresEventStore.migrate(pool);
    await migrate(pool, migrations);
    const projections = shippedProjections({ codec, keys });
    await migrate(pool, projections.map(firstGeneration));
    const sealing = { codec, keys, tenantId: 'bench' };
    let count = 0;
    while (count < events) {
      count += await appendHistory(store, Math.min(events - count, 100_000), { sealing });
      progress(`${count.toLocaleString('en')} events are there.`);
    }
    await pool.query('vacuum analyze event_log.events');
    const rate = (seconds: number): string => `${Math.round(count / seconds).toLocaleString('en')} events/s`;
    progress('The log is read, and then read and opened.');
    const read = await timed(async () => {
      for await (const {} of store.readAll({ filter: conversations })) continue;
    });
    const opened = await timed(async () => {
      for await (const event of store.readAll({ filter: conversations })) await codec.decode(event).open();
    });
    const beside = (seconds: number): string => `${rate(seconds)} to ${rate(opened)} read and opened`;
    add({
      what: 'reading and opening, to a bare read',
      ratio: opened / read,
      detail: `${rate(opened)} to ${rate(read)}`,
    });
    const memory = new Memory();
    const whole = await timed(() =>
      buildAll({ pool, store }, projections, {
        onTenth: () => memory.mark(),
        onBuilt: ({ name }, seconds) =>
          add({ what: `${name}, to reading and opening`, ratio: seconds / opened, detail: beside(seconds) }),
      }),
    );
    add({ what: 'all of them, to reading and opening', ratio: whole / opened, detail: beside(whole) });
    const { first, most } = memory.end();
    const detail = `${most} MiB at most, ${first} MiB in the first tenth`;
    add({ what: 'memory: in all to the first tenth', ratio: most / first, aim: { most: 1.5 }, detail });
    return {
      title: `Read models and example projections built over a log of ${count.toLocaleString('en')} events`,
      how: 'All at once, in one process beside Postgres; each by when it was at the end. Contents are sealed, 100 to 600 bytes each.',
      rows,
    };
  } finally {
    await store.close();
    await pool.end();
  }
}

/** What is measured is the building, whose commits wait for no disk either: the load need not. */
async function sparesCommits(databaseUrl: string): Promise<void> {
  const pool = createPool({ url: databaseUrl, applicationName: 'bench', log, max: 1 });
  await pool.query(
    `do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$`,
  );
  await pool.end();
}

interface Stores {
  readonly pool: Pool;
  readonly store: PostgresEventStore;
}

interface Building {
  /** The slowest has a tenth of the log. */
  readonly onTenth: () => void;
  readonly onBuilt: (projection: Projection, seconds: number) => void;
}

async function buildAll(
  { pool, store }: Stores,
  projections: readonly Projection[],
  building: Building,
): Promise<void> {
  const locks = new ProjectionLocks(pool, 'bench');
  const projectors = projections.map((projection) => {
    const tables = new LiveTables(pool, projection);
    return new Projector({ ...{ pool, store, projection, locks, tables }, onError: (error) => console.error(error) });
  });
  const end = await store.lastPosition();
  const began = performance.now();
  for (const projector of projectors) projector.start();
  await Promise.all([
    Promise.all(projectors.map((projector) => reaches(projector, end / 10n))).then(building.onTenth),
    ...projectors.map(async (projector) => {
      await reaches(projector, end);
      building.onBuilt(projector.projection, (performance.now() - began) / 1000);
    }),
  ]);
  for (const projector of projectors) await projector.stop();
  await locks.close();
}

async function reaches(projector: Projector, position: Position): Promise<void> {
  while (projector.position < position) await projector.moved(1_000);
}

/** The most that this process held, up to a mark and up to its end. MiB. */
class Memory {
  private most = 0;
  private first: number | undefined;
  private readonly watch = setInterval(() => this.look(), 50);

  mark(): void {
    this.look();
    this.first ??= this.most;
  }

  end(): { readonly first: number; readonly most: number } {
    this.mark();
    clearInterval(this.watch);
    return { first: this.first ?? this.most, most: this.most };
  }

  private look(): void {
    this.most = Math.max(this.most, Math.round(process.memoryUsage().rss / 1024 / 1024));
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}
