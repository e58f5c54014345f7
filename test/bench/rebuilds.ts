import { createCodec, migrations } from '@palimpsest/application';
import { KeyRing, PostgresKeyStore } from '@palimpsest/event-store';
import { PostgresEventStore } from '@palimpsest/event-store-postgres';
import { createLogger, createPool, migrate, type Pool, withTransaction } from '@palimpsest/platform';
import { beginGeneration, find, firstGeneration, LiveTables, type Projection, ProjectionLocks, Projector } from '@palimpsest/read-models'; // prettier-ignore
import { randomBytes } from 'node:crypto';
import { appendHistory } from '../support/generated-history';
import { shippedProjections } from '../support/shipped-projections';
import type { Row, Section } from './rows';

const log = createLogger('silent');
const conversations = { streamPrefixes: ['conversation-'] };

/** Building every read model that is shipped from the start of the log, beside reading and opening the same log and nothing else. */
export async function measureRebuilds(
  databaseUrl: string,
  events: number,
  progress: (text: string) => void,
): Promise<Section> {
  const pool = createPool({ url: databaseUrl, applicationName: 'bench', log, max: 16 });
  const store = new PostgresEventStore(pool);
  const keys = new KeyRing({ store: new PostgresKeyStore(pool), installation: [randomBytes(32)] });
  const codec = createCodec(store, keys);
  try {
    await PostgresEventStore.migrate(pool);
    await migrate(pool, migrations);
    const projections = shippedProjections({ codec, keys });
    await migrate(pool, projections.map(firstGeneration));
    progress(`${events.toLocaleString('en')} events are appended.`);
    const count = await appendHistory(store, events, { sealing: { codec, keys, tenantId: 'bench' } });
    await pool.query('vacuum analyze event_log.events');
    const ratePer = (seconds: number): string => Math.round(count / seconds).toLocaleString('en');
    progress('The log is read.');
    const read = await timed(async () => {
      for await (const {} of store.readAll({ filter: conversations })) continue;
    });
    progress('The log is read and opened.');
    const opened = await timed(async () => {
      for await (const event of store.readAll({ filter: conversations })) await codec.decode(event).open();
    });
    const rows: Row[] = [
      {
        what: 'reading and opening, to a bare read',
        ratio: opened / read,
        detail: `${ratePer(opened)} events/s to ${ratePer(read)} read`,
      },
    ];
    const measure = async (what: string, build: (onTenth: () => void) => Promise<void>): Promise<void> => {
      progress(`${what}: begun.`);
      const memory = new Memory();
      const built = await timed(() => build(() => memory.mark()));
      const { first, whole } = memory.end();
      const took = `${ratePer(built)} events/s to ${ratePer(opened)} read and opened`;
      const kept = `memory at most ${first} MiB in the first tenth, ${whole} MiB in all`;
      rows.push({ what: `${what}, to reading and opening`, ratio: built / opened, detail: `${took}; ${kept}` });
    };
    for (const projection of projections)
      await measure(projection.name, (onTenth) => build({ pool, store }, [projection], onTenth));
    for (const projection of projections) await withTransaction(pool, (client) => beginGeneration(client, projection));
    await measure('all at once', async (onTenth) => {
      await build({ pool, store }, projections, onTenth);
    });
    return {
      title: `Read models rebuilt over a log of ${count.toLocaleString('en')} events`,
      how: 'First each alone, then all of them at once as an operator rebuilds them, in one process beside Postgres. Contents are sealed, about 300 bytes each.',
      rows,
    };
  } finally {
    await store.close();
    await pool.end();
  }
}

interface Stores {
  readonly pool: Pool;
  readonly store: PostgresEventStore;
}

/** Until none is being built and each is at the log's end; `onTenth` is called where the slowest has a tenth of it. */
async function build({ pool, store }: Stores, projections: readonly Projection[], onTenth: () => void): Promise<void> {
  const locks = new ProjectionLocks(pool, 'bench');
  const projectors = projections.map((projection) => {
    const tables = new LiveTables(pool, projection);
    return new Projector({ ...{ pool, store, projection, locks, tables }, onError: (error) => console.error(error) });
  });
  const end = await store.lastPosition();
  for (const projector of projectors) projector.start();
  let toTell = true;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const generations = await Promise.all(projections.map(async (projection) => (await find(pool, projection, 'building')) ?? find(pool, projection, 'live'))); // prettier-ignore
    const least = generations.reduce((min, generation) => (generation && generation.position < min ? generation.position : min), end); // prettier-ignore
    if (toTell && least >= end / 10n) {
      onTenth();
      toTell = false;
    }
    if (least >= end && generations.every((generation) => generation?.state === 'live')) break;
  }
  for (const projector of projectors) await projector.stop();
  await locks.close();
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

  end(): { readonly first: number; readonly whole: number } {
    this.mark();
    clearInterval(this.watch);
    return { first: this.first ?? this.most, whole: this.most };
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
