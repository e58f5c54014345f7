import { InMemoryEventStore, type NewEvent } from '@palimpsest/event-store';
import { createLogger, createPool, type Pool } from '@palimpsest/platform';
import { v7 } from 'uuid';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database';
import { conversationTreeSchema } from './conversation-tree/schema';
import type { Projection } from './projection';
import { Projector } from './projector';

/** Writes down the positions that it was given. */
const diary: Projection = {
  name: 'diary',
  version: 1,
  filter: { streamPrefixes: ['conversation-'] },
  async apply(events, transaction) {
    for (const { position } of events)
      await transaction.query('insert into diary (position) values ($1::bigint)', [position]);
  },
};

describe('a projector', () => {
  let database: TestDatabase;
  let pool: Pool;
  const store = new InMemoryEventStore();
  const running: Projector[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.url, applicationName: 'test', log: createLogger('silent') });
    await pool.query(`${conversationTreeSchema}; create table diary (position bigint primary key)`);
  });

  afterAll(async () => {
    for (const projector of running) await projector.stop();
    await pool.end();
    await database.drop();
  });

  const event = (): NewEvent => ({ id: v7(), type: 'HeadMoved', data: {}, metadata: {} });
  const append = async (count: number) => {
    for (let n = 0; n < count; n += 1) await store.append(`conversation-${v7()}`, 'no_stream', [event()]);
    return store.lastPosition();
  };
  const start = (projection: Projection = diary, onError: (error: unknown) => void = () => undefined) => {
    const projector = new Projector({ pool, store, projection, onError, retryMs: 5, standbyMs: 20 });
    running.push(projector);
    projector.start();
    return projector;
  };
  const reaches = async (projector: Projector, position: bigint) => {
    const until = Date.now() + 10_000;
    while (projector.position < position && Date.now() < until) await projector.moved(50);
    expect(projector.position).toBeGreaterThanOrEqual(position);
  };
  const written = async () => (await pool.query<{ count: bigint }>('select count(*) from diary')).rows[0]?.count;

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
        if (failures-- > 0) throw new Error('killed before the checkpoint');
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
