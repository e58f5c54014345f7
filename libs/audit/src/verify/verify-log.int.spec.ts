import { randomInt } from 'node:crypto';
import { openLog, type TestLog } from '@palimpsest/event-store-postgres/testing';
import { newSigningKey, PostgresLog, type SampleLog, shown, verifyFlippedBits, writeSampleLog } from '../../testing';
import { verifyLog } from '.';

let log: TestLog;
let sample: SampleLog;
const key = newSigningKey();

beforeAll(async () => {
  log = await openLog();
  sample = await writeSampleLog(log.store, key);
});
afterAll(() => log.dispose());

async function* outside() {
  yield* sample.anchors;
}
const checks = () => ({
  content: { codec: sample.codec, log: { at: async () => [] } },
  outside: outside(),
  trusted: [key.publicKey],
});
const verify = () => verifyLog({ store: log.store, densePositions: true, ...checks() });

/** Undone at the end, so that each test finds the log sound. */
async function tampered(sql: string, test: () => Promise<void>): Promise<void> {
  await log.admin.query('create table kept as select * from event_log.events');
  try {
    await log.admin.query(sql);
    await test();
  } finally {
    await log.admin.query(
      'truncate event_log.events; insert into event_log.events select * from kept; drop table kept',
    );
  }
}

describe('a log in Postgres', () => {
  it('is sound while nobody touches it', async () => {
    const report = await verify();
    expect(report.faults.map(shown)).toEqual([]);
    expect(report).toMatchObject({ ok: true, payloads: 2, opened: 80, anchored: { anchors: 5 } });
  });

  it('one flipped bit in any stored event, at 50 random places, is found and named', async () => {
    await verifyFlippedBits(new PostgresLog(log.store, log.admin), checks, { places: 50, seed: randomInt(2 ** 31) });
  });

  const ofA = `stream = (select id from event_log.streams where name = 'conversation-a')`;

  /** A copy of the event of revision 3 behind it; those that follow, in the log and in its stream, have moved on by one. */
  const insertion = `
    create temporary table copied as select * from event_log.events where ${ofA} and revision = 3;
    update event_log.events set position = -position - 1 where position > (select position from copied);
    update event_log.events set position = -position where position < 0;
    update event_log.events set revision = -revision - 1 where ${ofA} and revision > 3;
    update event_log.events set revision = -revision where revision < 0;
    insert into event_log.events (position, stream, revision, id, rest, type, metadata, data)
      select position + 1, stream, 4, '0198c0de-0000-7000-8000-00000000dead', 0, type, metadata, data from copied;
    drop table copied`;

  it('a removed event, an inserted one, two swapped ones and a stream that was cut off are told apart', async () => {
    await tampered(`delete from event_log.events where ${ofA} and revision = 3`, async () => {
      expect((await verify()).faults.map(({ kind, revision }) => [kind, revision])).toEqual(
        expect.arrayContaining([['missing', 3n]]),
      );
    });
    await tampered(insertion, async () => {
      expect((await verify()).faults.map(({ kind, stream, revision }) => [kind, stream, revision])).toEqual([
        ['inserted', 'conversation-a', 4n],
      ]);
    });
    await tampered(
      `update event_log.events e set id = o.id, type = o.type, metadata = o.metadata, data = o.data
       from event_log.events o where e.${ofA} and o.${ofA.replace('stream', 'stream')} and e.stream = o.stream
         and ((e.revision = 2 and o.revision = 5) or (e.revision = 5 and o.revision = 2))`,
      async () => {
        expect((await verify()).faults.map(({ kind, revision }) => [kind, revision])).toEqual([
          ['reordered', 2n],
          ['reordered', 5n],
        ]);
      },
    );
    await tampered(`delete from event_log.events where ${ofA} and revision > 20`, async () => {
      const kinds = (await verify()).faults.filter(({ kind }) => kind !== 'hole');
      expect(new Set(kinds.map(({ kind, stream }) => `${kind} ${stream}`))).toEqual(
        new Set(['cut_off conversation-a']),
      );
    });
  });
});
