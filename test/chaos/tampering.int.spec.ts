import { verifyLog } from '@palimpsest/audit';
import { newSigningKey, type SampleLog, shown, verifyFlippedBits, writeSampleLog } from '@palimpsest/audit/testing';
import { type EventPlace, EventUnreadable } from '@palimpsest/event-store';
import { openLog, type TestLog } from '@palimpsest/event-store-eventstoredb/testing';
import type { Undo } from '../support/eventstoredb/tampering';
import { EventStoreDbLog } from './eventstoredb-log';
import { randomSeed } from './luck';

let log: TestLog;
let tampered: EventStoreDbLog;
let sample: SampleLog;
let places: readonly EventPlace[];
const key = newSigningKey();
const stream = 'conversation-a';

beforeAll(async () => {
  log = await openLog();
  sample = await writeSampleLog(log.store, key);
  tampered = new EventStoreDbLog(log.store, log.server);
  places = await tampered.places();
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
const verify = () => verifyLog({ store: log.store, densePositions: false, ...checks() });
const at = (revision: bigint) =>
  places.find((place) => place.stream === stream && place.revision === revision)!.position;

/** What is found while something is not as it was. */
async function found(undo: Undo): Promise<readonly unknown[]> {
  try {
    return (await verify()).faults.map(({ kind, stream: of, revision, through }) => [kind, of, revision, through]);
  } finally {
    undo();
  }
}

describe('a log in EventStoreDB', () => {
  it('is sound while nobody touches it', async () => {
    const report = await verify();
    expect(report.faults.map(shown)).toEqual([]);
    expect(report).toMatchObject({ ok: true, payloads: 2, opened: 80, anchored: { anchors: 5 } });
  });

  it('one flipped bit in any stored event, at 50 random places, is found and named', async () => {
    await verifyFlippedBits(tampered, checks, { places: 50, seed: randomSeed() });
  });

  it('a removed, an inserted and two swapped events and a stream that was cut off are told apart', async () => {
    const { tampering } = tampered;
    const last = places.findLast((place) => place.stream === stream)!.revision;
    expect(await found(tampering.remove(at(3n)))).toEqual([['missing', stream, 3n, null]]);
    const forged = { id: '0198c0de-0000-7000-8000-00000000dead', data: Buffer.from('{"round":99}') };
    expect(await found(tampering.insertBehind(at(3n), forged))).toEqual([['inserted', stream, 4n, null]]);
    expect(await found(tampering.swap(at(2n), at(5n)))).toEqual([
      ['reordered', stream, 2n, null],
      ['reordered', stream, 5n, null],
    ]);
    const cut = (await found(tampering.cut(stream, last - 4n))) as [string, string, bigint, bigint | null][];
    expect(new Set(cut.map(([kind, of]) => `${kind} ${of}`))).toEqual(new Set([`cut_off ${stream}`]));
    expect([cut[0]?.[2], cut.at(-1)?.[3] ?? cut.at(-1)?.[2]]).toEqual([last - 4n, last]);
    expect(await found(() => undefined)).toEqual([]);
  });

  it('an event that is no JSON any more is unreadable at its place, and all before it is read', async () => {
    const undo = tampered.tampering.halve(at(4n));
    try {
      const read: bigint[] = [];
      const reading = (async () => {
        for await (const { revision } of log.store.readStream(stream)) read.push(revision);
      })();
      await expect(reading).rejects.toMatchObject({ place: places.find(({ position }) => position === at(4n)) });
      await expect(reading).rejects.toBeInstanceOf(EventUnreadable);
      expect(read).toEqual([0n, 1n, 2n, 3n]);
    } finally {
      undo();
    }
  });
});
