import { InMemoryEventStore, type NewEvent } from '@palimpsest/event-store';
import { createLogger, createPool, migrate, type Pool } from '@palimpsest/platform';
import { v7 } from 'uuid';
import { createTestDatabase, type TestDatabase } from '../../../test/support/database';
import { WaitsForStream } from './faults';
import { beginGeneration, dropGeneration, find, findLive, firstGeneration, generationsSchema } from './generations';
import { requestRetry } from './operations';
import type { Projection } from './projection';
import { ProjectionLocks } from './projection-lock';
import { Projector, type ProjectorOptions } from './projector';
import { LiveTables } from './tables';

const WAIT_MS = 10_000;

/** Sums what its events hold, by stream. What is no number it can't take. */
const sums: Projection = {
  name: 'sums',
  version: 1,
  filter: { streamPrefixes: ['conversation-'], types: ['Added', 'Ended'] },
  endings: ['Ended'],
  tables: 'create table read.sums (stream text primary key, sum int not null, events int not null default 1)',
  async apply(events, transaction) {
    for (const { stream, type, data } of events) {
      if (type === 'Ended') await transaction.query('delete from read.sums where stream = $1::text', [stream]);
      else
        await transaction.query(
          `insert into read.sums as old (stream, sum) values ($1::text, $2::text::int)
           on conflict (stream) do update set sum = old.sum + excluded.sum, events = old.events + 1`,
          [stream, data['number']],
        );
    }
  },
};

let database: TestDatabase;
let pool: Pool;
let store: InMemoryEventStore;
let locks: ProjectionLocks;
let running: Projector[];
let errors: unknown[];
let parked: string[];

beforeEach(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, applicationName: 'test', log: createLogger('silent') });
  await migrate(pool, [{ name: 'read/generations', sql: generationsSchema }, firstGeneration(sums)]);
  store = new InMemoryEventStore();
  locks = new ProjectionLocks(pool, 'test');
  [running, errors, parked] = [[], [], []];
});
afterEach(async () => {
  for (const projector of running) await projector.stop();
  await locks.close();
  await pool.end();
  await database.drop();
});

function start(options: Partial<ProjectorOptions> = {}): Projector {
  const projector = new Projector({
    ...{ pool, store, locks, projection: sums, retryMs: 5, standbyMs: 20, attendMs: 20 },
    onError: (error) => errors.push(error),
    onParked: ({ stream, revision, reason }) => parked.push(`${stream} at ${revision}: ${reason}`),
    ...options,
  });
  running.push(projector);
  projector.start();
  return projector;
}

const event = (number: string | number, type = 'Added'): NewEvent => ({
  id: v7(),
  type,
  data: { number },
  metadata: {},
});
async function append(stream: string, ...numbers: readonly (string | number)[]): Promise<void> {
  let last = -1n;
  for await (const { revision } of store.readStream(stream)) last = revision;
  await store.append(
    stream,
    last < 0n ? 'no_stream' : last,
    numbers.map((number) => (number === 'end' ? event(0, 'Ended') : event(number))),
  );
}
async function caughtUp(projector: Projector): Promise<void> {
  const end = await store.lastPosition();
  for (const until = Date.now() + WAIT_MS; projector.position < end && Date.now() < until;) await projector.moved(50);
  expect(projector.position).toBeGreaterThanOrEqual(end);
}
async function rows(): Promise<Record<string, number>> {
  const found = await new LiveTables(pool, sums).query<{ stream: string; sum: number }>('select * from read.sums');
  return Object.fromEntries(found.rows.map(({ stream, sum }) => [stream.replace('conversation-', ''), sum]));
}
const parkedRows = async () => (await pool.query('select * from read.parked order by stream')).rows;
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + WAIT_MS; Date.now() < end; await new Promise((wait) => setTimeout(wait, 20)))
    if (await holds()) return;
  throw new Error('It did not come about.');
}

describe('a poison event', () => {
  it('parks its stream, with the event and why, and everything else goes on', async () => {
    await append('conversation-a', 1, 2);
    await append('conversation-b', 10, 'poison', 20);
    await append('conversation-a', 3);
    const projector = start();
    await caughtUp(projector);
    await append('conversation-b', 30);
    await append('conversation-c', 100);
    await caughtUp(projector);
    expect(await rows()).toEqual({ a: 6, b: 10, c: 100 });
    expect(await parkedRows()).toMatchObject([
      { stream: 'conversation-b', revision: 1n, position: 3n, type: 'Added', attempts: 1, retry_requested_at: null },
    ]);
    expect(parked).toEqual([expect.stringMatching(/^conversation-b at 1: .*code 22P02/)]);
    expect(parked.join()).not.toContain('poison');
    expect(errors).toEqual([]);
  });

  it('stays parked for the next process, and is tried again when an operator wants it', async () => {
    await append('conversation-b', 10, 'poison', 20);
    const first = start();
    await caughtUp(first);
    await first.stop();
    const mended: Projection = {
      ...sums,
      apply: (events, tables) =>
        sums.apply(
          events.map((each) => (each.data['number'] === 'poison' ? { ...each, data: { number: 5 } } : each)),
          tables,
        ),
    };
    const second = start({ projection: mended });
    await append('conversation-b', 30);
    await caughtUp(second);
    expect(await rows()).toEqual({ b: 10 });
    await pool.query('update read.parked set retry_requested_at = now()');
    await until(async () => (await parkedRows()).length === 0);
    expect(await rows()).toEqual({ b: 65 });
    await append('conversation-b', 40);
    await caughtUp(second);
    expect(await rows()).toEqual({ b: 105 });
  });

  it('tried again in vain: parked as before, with what came before the fault, once', async () => {
    await append('conversation-b', 10, 'poison', 20);
    const projector = start();
    await caughtUp(projector);
    for (const attempts of [2, 3]) {
      await pool.query('update read.parked set retry_requested_at = now()');
      await until(async () => (await parkedRows())[0]?.attempts === attempts);
    }
    expect(await rows()).toEqual({ b: 10 });
    expect(await parkedRows()).toMatchObject([{ revision: 1n, retry_requested_at: null }]);
  });

  it('holds up what rests on its stream, which waits for it and is tried again with it', async () => {
    const mends = { poison: 'poison' as string | number };
    const resting: Projection = {
      ...sums,
      async apply(events, tables) {
        for (const event of events) {
          const { number } = event.data;
          const { rows: below } = await tables.query(
            `select sum from read.sums where stream = 'conversation-b' and events > 1`,
          );
          if (number === 'rests on b' && !below.length) throw new WaitsForStream('conversation-b');
          const taken = number === 'poison' ? mends.poison : number === 'rests on b' ? 1000 : number;
          await sums.apply([{ ...event, data: { number: taken as number } }], tables);
        }
      },
    };
    await append('conversation-b', 10, 'poison');
    await append('conversation-c', 'rests on b', 1);
    await append('conversation-a', 3);
    const projector = start({ projection: resting });
    await caughtUp(projector);
    expect(await rows()).toEqual({ a: 3, b: 10 });
    expect(await parkedRows()).toMatchObject([
      { stream: 'conversation-b', waits_for: null },
      { stream: 'conversation-c', revision: 0n, reason: 'waits for conversation-b', waits_for: 'conversation-b' },
    ]);
    mends.poison = 5;
    await requestRetry(pool, sums, 'conversation-b');
    await until(async () => (await parkedRows()).length === 0);
    expect(await rows()).toEqual({ a: 3, b: 15, c: 1001 });
  });

  it('of a parked stream, what ends it is applied all the same, and nothing is parked then', async () => {
    await append('conversation-b', 10, 'poison');
    const projector = start();
    await caughtUp(projector);
    await append('conversation-b', 'end');
    await caughtUp(projector);
    expect(await rows()).toEqual({});
    expect(await parkedRows()).toEqual([]);
  });

  it('is never seen in what the database or a race did: that batch is tried again, whole', async () => {
    const codes = ['57P01', '40001', '40P01', '08006', '53300', '57014', '55P03'];
    const flaky: Projection = {
      ...sums,
      async apply(events, tables) {
        await sums.apply(events, tables);
        const code = codes.pop();
        if (code) throw Object.assign(new Error('not the event'), { code });
      },
    };
    await append('conversation-a', 1, 2);
    await caughtUp(start({ projection: flaky }));
    expect(errors).toHaveLength(7);
    expect(await parkedRows()).toEqual([]);
    expect(await rows()).toEqual({ a: 3 });
    expect((await findLive(pool, sums)).position).toBe(1n);
  });
});

describe('a rebuild', () => {
  const begin = async () => {
    const session = await pool.connect();
    try {
      await session.query('begin');
      const begun = await beginGeneration(session, sums);
      await session.query('commit');
      return begun;
    } finally {
      session.release(true);
    }
  };
  const drop = async (generation: number) => {
    const session = await pool.connect();
    try {
      return await dropGeneration(session, sums, generation);
    } finally {
      session.release();
    }
  };

  it('is built beside the live one, becomes it in one step, and leaves the old one until it is dropped', async () => {
    await append('conversation-a', 1, 2);
    const tables = new LiveTables(pool, sums);
    const projector = start({ tables });
    await caughtUp(projector);
    await tables.query(`update read.sums set sum = 1000`);
    expect(await begin()).toMatchObject({ generation: 2, state: 'building', position: -1n });
    await until(async () => (await findLive(pool, sums)).generation === 2);
    expect(await rows()).toEqual({ a: 3 });
    await append('conversation-a', 4);
    await caughtUp(projector);
    expect((await tables.query('select * from read.sums')).rows).toMatchObject([{ sum: 7 }]);
    expect((await pool.query('select sum from read_sums_v1_g1.sums')).rows).toEqual([{ sum: 1000 }]);
    expect(await drop(2)).toBe('live');
    expect(await drop(3)).toBe('unknown');
    expect(await drop(1)).toBe('dropped');
    await expect(pool.query('select sum from read_sums_v1_g1.sums')).rejects.toMatchObject({ code: '42P01' });
    expect(errors).toEqual([]);
  });

  it('is one at a time, and ends where it is dropped', async () => {
    await append('conversation-a', 1);
    expect(await begin()).toMatchObject({ generation: 2 });
    expect(await begin()).toBeUndefined();
    expect(await drop(2)).toBe('dropped');
    expect(await begin()).toMatchObject({ generation: 2 });
    const projector = start();
    await until(async () => (await findLive(pool, sums)).generation === 2);
    await caughtUp(projector);
    expect(errors).toEqual([]);
  });

  it('goes on where it stopped, and parks on its own account', async () => {
    await append('conversation-a', 1, 'poison');
    await append('conversation-b', 2);
    const stuck: Projection = {
      ...sums,
      async apply(events, tables) {
        if (events.some(({ stream }) => stream.endsWith('c'))) throw Object.assign(new Error(), { code: '57P01' });
        await sums.apply(events, tables);
      },
    };
    const first = start({ projection: stuck });
    // Else the next generation may overtake this one, which then has parked nothing.
    await caughtUp(first);
    await begin();
    await until(async () => (await findLive(pool, sums)).generation === 2);
    await begin();
    await append('conversation-c', 5);
    await until(async () => (await find(pool, sums, 'building'))?.position === 2n || errors.length > 3);
    await first.stop();
    const second = start();
    await until(async () => (await findLive(pool, sums)).generation === 3);
    await caughtUp(second);
    expect(await rows()).toEqual({ a: 1, b: 2, c: 5 });
    const { rows: all } = await pool.query('select schema, stream from read.parked order by schema');
    expect(all.map(({ schema }) => schema)).toEqual(['read_sums_v1_g1', 'read_sums_v1_g2', 'read_sums_v1_g3']);
  });

  it('is seen by a reader that did not hear of the swap, once the old one is gone', async () => {
    await append('conversation-a', 1);
    const deaf = new LiveTables(pool, sums);
    await deaf.query('select * from read.sums');
    const projector = start();
    await begin();
    await until(async () => (await findLive(pool, sums)).generation === 2);
    await caughtUp(projector);
    expect(await drop(1)).toBe('dropped');
    expect((await deaf.query('select sum from read.sums')).rows).toEqual([{ sum: 1 }]);
  });
});
