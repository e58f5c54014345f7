import { InMemoryEventStore, type NewEvent } from '@palimpsest/event-store';
import { createLogger, createPool, migrate, type Pool } from '@palimpsest/platform';
import { v7 } from 'uuid';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database';
import { firstGeneration, generationsSchema } from './generations';
import type { Projection } from './projection';
import { ProjectionLocks } from './projection-lock';
import { Projector } from './projector';
import { LiveTables } from './tables';

/** Writes down the positions that it was given. */
const diary: Projection = {
  name: 'diary',
  version: 1,
  filter: { streamPrefixes: ['conversation-'] },
  tables: 'create table read.diary (position bigint primary key)',
  async apply(events, transaction) {
    for (const { position } of events)
      await transaction.query('insert into read.diary (position) values ($1::bigint)', [position]);
  },
};

describe('a projector', () => {
  let database: TestDatabase;
  let pool: Pool;
  let locks: ProjectionLocks;
  const store = new InMemoryEventStore();
  const running: Projector[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.url, applicationName: 'test', log: createLogger('silent') });
    await migrate(pool, [{ name: 'read/generations', sql: generationsSchema }, firstGeneration(diary)]);
    locks = new ProjectionLocks(pool, 'test');
  });

  afterAll(async () => {
    for (const projector of running) await projector.stop();
    await locks.close();
    await pool.end();
    await database.drop();
  });

  const event = (): NewEvent => ({ id: v7(), type: 'HeadMoved', data: {}, metadata: {} });
  const append = async (count: number) => {
    for (let n = 0; n < count; n += 1) await store.append(`conversation-${v7()}`, 'no_stream', [event()]);
    return store.lastPosition();
  };
  const start = (projection: Projection = diary, onError: (error: unknown) => void = () => undefined) => {
    const projector = new Projector({ pool, store, projection, locks, onError, retryMs: 5, standbyMs: 20 });
    running.push(projector);
    projector.start();
    return projector;
  };
  const reaches = async (projector: Projector, position: bigint) => {
    const until = Date.now() + 10_000;
    while (projector.position < position && Date.now() < until) await projector.moved(50);
    expect(projector.position).toBeGreaterThanOrEqual(position);
  };
  const written = async () =>
    (await new LiveTables(pool, diary).query<{ count: bigint }>('select count(*) from read.diary')).rows[0]?.count;

  it('writes each event once, and a standby takes over where it stopped', async () => {
    const first = start();
    const second = start();
    const third = await append(3);
    await reaches(first, third);
    await reaches(second, third);
    await first.stop();
    await second.stop();
    const fourth = await append(4);
    await reaches(start(), fourth);
    expect(await written()).toBe(7n);
  });

  it('P15: rows and checkpoint commit together, so a failure between them leaves neither', async () => {
    for (const projector of running) await projector.stop();
    const errors: unknown[] = [];
    let failures = 3;
    const flaky: Projection = {
      ...diary,
      async apply(events, transaction) {
        await diary.apply(events, transaction);
        if (failures-- > 0) throw Object.assign(new Error('killed before the checkpoint'), { code: '57P01' });
      },
    };
    const before = await written();
    const end = await append(5);
    await reaches(
      start(flaky, (error) => errors.push(error)),
      end,
    );
    expect(errors).toHaveLength(3);
    expect(await written()).toBe((before ?? 0n) + 5n);
  });
});
