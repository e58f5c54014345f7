import { type EventUnreadable, followLog, OutcomeUnknown, type StoredEvent } from '@palimpsest/event-store';
import {
  collect,
  event,
  events,
  expectEachStreamInOrder,
  follow,
  mustStore,
  newStream,
  write,
} from '@palimpsest/event-store/contract';
import { Pool, type PoolClient } from 'pg';
import { openLog, type TestLog } from '../testing';
import { PostgresEventStore } from './postgres-event-store';
import { APPEND_LOCK } from './schema';

/** What goes wrong with a log in Postgres where nobody thought of it: seen on a real server, so tested on one. */
describe('the Postgres log', () => {
  let log: TestLog;
  beforeAll(async () => {
    log = await openLog({ pollMs: 60_000 });
  });
  afterAll(() => log.dispose());

  const inTransaction = async (act: (client: PoolClient) => Promise<void>) => {
    const client = await log.admin.connect();
    await client.query('begin');
    try {
      await act(client);
    } finally {
      await client.query('rollback');
      client.release();
    }
  };

  it('gives positions without gaps, in the order of commits, to two processes at once', async () => {
    const start = await log.store.lastPosition();
    const second = log.another();
    const seen: bigint[] = [];
    let writing = true;
    const watching = (async () => {
      for (let after = start; writing; after = seen.at(-1) ?? start) {
        for await (const { position } of log.store.readAll({ after })) seen.push(position);
      }
    })();
    await Promise.all(Array.from({ length: 16 }, (_, i) => write(i % 2 ? second : log.store, newStream(), 40)));
    writing = false;
    await watching;
    const all = (await collect(log.store.readAll({ after: start }))).map(({ position }) => position);
    expect(all).toEqual(all.map((_, i) => start + 1n + BigInt(i)));
    expect(seen).toEqual(all.slice(0, seen.length));
    await second.close();
  });

  it('tells a reader of another process of an append at once, not at the next poll', async () => {
    const second = log.another();
    const reader = follow(second, { after: await log.store.lastPosition() });
    await reader.until(() => reader.batches.length > 0);
    const stream = newStream();
    // The listening connection may still be on its way: what comes before it is told when it stands.
    await mustStore(log.store, stream, 'no_stream', events(1));
    await reader.until(() => reader.read.length === 1);
    const start = performance.now();
    await mustStore(log.store, stream, 0n, events(1));
    await reader.until(() => reader.read.length === 2);
    expect(performance.now() - start).toBeLessThan(2_000);
    await reader.stop();
    await second.close();
  });

  it('finds what was appended while nobody listened, by its poll', async () => {
    const second = log.another({ pollMs: 50 });
    const reader = follow(second, { after: await log.store.lastPosition() });
    await reader.until(() => reader.batches.length > 0);
    await inTransaction(async (client) => {
      // An append that tells nobody: its notification is lost with its connection.
      await client.query(`
        insert into event_log.events (position, stream, revision, id, rest, type, metadata, data)
        select (select max(position) + 1 from event_log.events), -1, 0, gen_random_uuid(), 0, 'Quiet', '{}', '{}'`);
      await client.query(`insert into event_log.streams (id, name) overriding system value values (-1, 'quiet')`);
      await client.query('commit');
    });
    await reader.until(() => reader.read.length === 1);
    await reader.stop();
    await second.close();
  });

  it('an open writing transaction elsewhere stalls no reader and no writer', async () => {
    await inTransaction(async (client) => {
      await client.query('create table public.elsewhere (id integer)');
      await client.query('insert into public.elsewhere values (1)');
      const reader = follow(log.store, { after: await log.store.lastPosition() });
      await mustStore(log.store, newStream(), 'no_stream', events(3));
      await reader.until(() => reader.read.length === 3);
      await reader.stop();
    });
  });

  it('an append that waits for the lock of another process is stored when that lets go', async () => {
    const stream = newStream();
    await mustStore(log.store, stream, 'no_stream', events(1));
    let answered = false;
    const lists = [events(1), events(20)];
    let appending: Promise<unknown> = Promise.resolve();
    await inTransaction(async (client) => {
      await client.query(`select pg_advisory_xact_lock(${APPEND_LOCK})`);
      appending = (async () => {
        await mustStore(log.store, stream, 0n, lists[0]!);
        await mustStore(log.store, stream, 1n, lists[1]!);
        answered = true;
      })();
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(answered).toBe(false);
    });
    await appending;
    expect(await collect(log.store.readStream(stream))).toHaveLength(22);
  });

  it('does not know the outcome of an append that found the lock held beyond its time; the same append settles it', async () => {
    const hasty = log.another({ appendTimeoutMs: 300, lockTimeoutMs: 100, tryTimeoutMs: 200 });
    const stream = newStream();
    const list = events(2);
    await inTransaction(async (client) => {
      await client.query(`select pg_advisory_xact_lock(${APPEND_LOCK})`);
      await expect(hasty.append(stream, 'no_stream', list)).rejects.toThrow(OutcomeUnknown);
    });
    await hasty.close();
    expect(await log.store.append(stream, 'no_stream', list)).toMatchObject({ outcome: 'stored', revision: 1n });
    expect(await collect(log.store.readStream(stream))).toHaveLength(2);
  });

  it('does not know the outcome of an append that no server answers', async () => {
    const pool = new Pool({ host: '127.0.0.1', port: 1, max: 2 });
    const store = new PostgresEventStore(pool, { appendTimeoutMs: 100 });
    await expect(store.append(newStream(), 'no_stream', events(1))).rejects.toThrow(OutcomeUnknown);
    await store.close();
    await pool.end();
  });

  it('an append whose backend is killed again and again is stored once, with the answer of the first time', async () => {
    for (const count of [1, 3, 30]) {
      const stream = newStream();
      for (let round = 0n; round < 8n; round++) {
        const list = events(count);
        const expected = round === 0n ? 'no_stream' : round * BigInt(count) - 1n;
        const appending = log.store.append(stream, expected, list);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
        await log.cutConnections();
        const answer = await appending;
        expect(answer).toMatchObject({ outcome: 'stored' });
        expect(await log.store.append(stream, expected, list)).toEqual(answer);
      }
      expect(await collect(log.store.readStream(stream))).toHaveLength(8 * count);
    }
  });

  it('an append that the database refuses takes none of its batch along', async () => {
    const refused = newStream('refused');
    await log.admin.query(`alter table event_log.events add constraint refuse check (type <> 'Refused')`);
    const streams = Array.from({ length: 6 }, () => newStream());
    const answers = await Promise.allSettled([
      ...streams.map((stream) => log.store.append(stream, 'no_stream', events(2))),
      log.store.append(refused, 'no_stream', [event({}, 'Refused')]),
    ]);
    await log.admin.query('alter table event_log.events drop constraint refuse');
    expect(answers.map(({ status }) => status)).toEqual([...streams.map(() => 'fulfilled'), 'rejected']);
    expect(await collect(log.store.readStream(refused))).toEqual([]);
  });

  it('a reader whose connections are cut goes on from where it was', async () => {
    const start = await log.store.lastPosition();
    const reader = follow(log.store, { after: start });
    for (let round = 0; round < 6; round++) {
      const last = await write(log.store, newStream(), 8);
      await log.cutConnections();
      await reader.until(() => reader.read.length >= (round + 1) * (Number(last) + 1));
    }
    await reader.stop();
    expectEachStreamInOrder(reader.read);
  });

  it('P12: a half event is unreadable at its place; what stands before it is read, and who follows can go past it', async () => {
    const start = await log.store.lastPosition();
    const stream = newStream();
    await mustStore(log.store, stream, 'no_stream', events(5));
    const halve = `update event_log.events set data = substring(data for octet_length(data) / 2)
      where position > $1::bigint and revision = any ($2::int[])`;
    await log.admin.query(halve, [String(start), [2, 4]]);

    const read: bigint[] = [];
    const reading = (async () => {
      for await (const { revision } of log.store.readStream(stream)) read.push(revision);
    })();
    await expect(reading).rejects.toMatchObject({ name: 'EventUnreadable', place: { stream, revision: 2n } });
    expect(read).toEqual([0n, 1n]);

    const passed: bigint[] = [];
    const followed: StoredEvent[] = [];
    const onUnreadable = ({ place }: EventUnreadable) => void passed.push(place.revision);
    for await (const batch of followLog(log.store, { after: start, onUnreadable })) {
      followed.push(...batch.events);
      if (batch.caughtUp) break;
    }
    expect(followed.map(({ revision }) => revision)).toEqual([0n, 1n, 3n]);
    expect(passed).toEqual([2n, 4n]);
  });

  it('its schema may be made again, by several at once, and keeps what is there', async () => {
    const before = await log.store.lastPosition();
    await Promise.all(Array.from({ length: 4 }, () => PostgresEventStore.migrate(log.admin)));
    expect(await log.store.lastPosition()).toBe(before);
  });

  it('waits for the disk, whatever the database does by default', async () => {
    await log.admin.query(`
      do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$;
      create table public.noted (setting text);
      create function public.note() returns trigger language plpgsql as $$
      begin
        insert into public.noted values (current_setting('synchronous_commit'));
        return null;
      end $$;
      create trigger note after insert on event_log.events for each statement execute function public.note()`);
    const second = log.another();
    await write(second, newStream(), 3);
    const { rows } = await log.admin.query<{ setting: string }>('select distinct n.setting from public.noted n');
    expect(rows).toEqual([{ setting: 'on' }]);
    await log.admin.query('drop trigger note on event_log.events');
    await second.close();
  });
});
