import { randomInt } from 'node:crypto';
import { digestOf, type EventPlace, type JsonObject } from '@palimpsest/event-store';
import {
  type Entry,
  judge,
  MemoryLog,
  newSigningKey,
  type SampleLog,
  shown,
  verifyFlippedBits,
  writeNotes,
  writeSampleLog,
} from '../../testing';
import type { SigningKey } from '../anchor';
import { appendNextAnchor, lastAnchor } from '../anchor';
import { type Fault, verifyLog, type VerifyOptions } from '.';

let log: MemoryLog;
let sample: SampleLog;
let key: SigningKey;

beforeEach(async () => {
  log = new MemoryLog();
  key = newSigningKey();
  sample = await writeSampleLog(log.store, key);
});

const content = () => ({ codec: sample.codec, log: { at: async () => [] } });
const verify = (options: Partial<VerifyOptions> = {}) =>
  verifyLog({ store: log.store, densePositions: true, content: content(), trusted: [key.publicKey], ...options });
async function* outside() {
  yield* sample.anchors;
}
const found = (faults: readonly Fault[]) =>
  faults.map(({ kind, stream, revision, through }) => [kind, stream, revision, ...(through === null ? [] : [through])]);
const placeOf = ({ stream, revision, position, id, type }: Entry): EventPlace => ({
  stream,
  revision,
  position,
  id,
  type,
});

/** Puts a stream's entries as they are into the store, in their own places of the log. */
const renumber = (stream: string) => log.of(stream).forEach((entry, index) => (entry.revision = BigInt(index)));

/** What whoever can write the log can do: the chain of a stream, computed anew. */
function chainAnew(stream: string): void {
  let previousDigest: string | null = null;
  for (const entry of log.of(stream)) {
    const data = JSON.parse(entry.data) as JsonObject;
    const metadata = { ...(JSON.parse(entry.metadata) as JsonObject), previousDigest };
    const digest = digestOf({ ...entry, data, metadata });
    entry.metadata = JSON.stringify({ ...metadata, digest });
    previousDigest = digest;
  }
}

function take(stream: string, revision: number): Entry {
  const [entry] = log.of(stream).splice(revision, 1);
  log.entries.splice(log.entries.indexOf(entry as Entry), 1);
  return entry as Entry;
}

describe('a log that nobody touched', () => {
  it('is sound, with its anchors inside and outside, its payloads and its contents', async () => {
    const report = await verify({ outside: outside() });
    expect(report.faults.map(shown)).toEqual([]);
    expect(report).toMatchObject({ ok: true, payloads: 2, opened: 80, sealed: 0, events: log.entries.length });
    expect(report.anchored).toMatchObject({ anchors: 5, younger: 1, keys: [key.publicKey] });
    expect(report.outside).toMatchObject({ anchors: 5, to: report.anchored.to });
  });

  it('is sound from any position on, and for one conversation alone', async () => {
    for (let since = -1n; since < BigInt(log.entries.length); since += 7n)
      expect((await verify({ since, outside: outside() })).faults.map(shown)).toEqual([]);
    const report = await verify({ conversationId: 'a', outside: outside() });
    expect(report.faults.map(shown)).toEqual([]);
    expect(report.events).toBe(log.of('conversation-a').length);
  });

  it('still verifies once a conversation was erased', async () => {
    await sample.keys.destroy('conversation-b');
    const report = await verify({ outside: outside() });
    expect(report).toMatchObject({ ok: true, sealed: log.of('conversation-b').length });
  });

  it('is sound though it goes on, and is anchored, while it is looked at', async () => {
    const { anchored } = await verify();
    async function* growing() {
      yield* sample.anchors;
      await writeNotes(log.store, 'conversation-later', 2);
      const last = await lastAnchor(log.store);
      const next = await appendNextAnchor(log.store, last, key, new Date());
      if (next) yield next.anchor;
    }
    const report = await verify({ outside: growing() });
    expect(report.faults.map(shown)).toEqual([]);
    expect(report.outside).toEqual(anchored);
  });

  it('verifies without any key', async () => {
    const { content: _, ...keyless } = { content, store: log.store, outside: outside() };
    expect(await verifyLog(keyless)).toMatchObject({ ok: true, opened: 0, payloads: 2 });
  });
});

describe('what is not in the log', () => {
  it('is not called sound: an unknown conversation, a position beyond the end', async () => {
    await expect(verify({ conversationId: 'x' })).rejects.toThrow('There is no conversation x in the log.');
    const end = BigInt(log.entries.length) - 1n;
    expect(await verify({ since: end })).toMatchObject({ ok: true, events: 0 });
    await expect(verify({ since: end + 1n })).rejects.toThrow(
      `There is no position ${end + 1n} in the log: it ends at ${end}.`,
    );
  });

  it('is a fault where an anchor saw it', async () => {
    while (log.of('conversation-b').length > 0) take('conversation-b', 0);
    expect((await verify({ conversationId: 'b' })).faults.map(({ kind }) => kind)).toContain('cut_off');
  });
});

describe('what was done to a log is told apart', () => {
  it('one flipped bit in any stored event, at 50 random places, is found and named', async () => {
    const checks = () => ({ content: content(), outside: outside(), trusted: [key.publicKey] });
    await verifyFlippedBits(log, checks, { places: 50, seed: randomInt(2 ** 31) });
  });

  it('a removed event is missing, also where the rest was renumbered', async () => {
    take('conversation-a', 3);
    expect(found((await verify()).faults)).toContainEqual(['missing', 'conversation-a', 3n]);
    renumber('conversation-a');
    const { faults } = await verify();
    expect(found(faults).filter(([kind]) => kind !== 'hole')).toEqual([['missing', 'conversation-a', 3n]]);
  });

  it('several removed events are missing together', async () => {
    for (let i = 0; i < 3; i += 1) take('conversation-a', 2);
    renumber('conversation-a');
    const { faults } = await verify();
    expect(found(faults).filter(([kind]) => kind !== 'hole')).toEqual([['missing', 'conversation-a', 2n, 4n]]);
  });

  it.each(['with any digest', 'with the right digest'])(
    'an inserted event %s is named, and those after it are not',
    async (how) => {
      const stream = 'conversation-a';
      const original = log.of(stream)[4] as Entry;
      const forged: Entry = { ...original, id: '0198c0de-0000-7000-8000-00000000dead', data: '{"round":99}' };
      if (how === 'with the right digest') {
        const metadata = JSON.parse(forged.metadata) as JsonObject;
        const digest = digestOf({ ...forged, data: { round: 99 }, metadata });
        forged.metadata = JSON.stringify({ ...metadata, digest });
      }
      log.of(stream).splice(4, 0, forged);
      log.entries.splice(log.entries.indexOf(original), 0, forged);
      renumber(stream);
      log.entries.forEach((entry, index) => (entry.position = BigInt(index)));
      const { faults } = await verify();
      expect(found(faults)).toEqual([['inserted', stream, 4n]]);
      expect(faults[0]?.id).toBe(forged.id);
    },
  );

  it('an inserted event at the end of a stream shows against an anchor', async () => {
    const stream = 'conversation-a';
    const last = log.of(stream).at(-1) as Entry;
    const metadata = { ...(JSON.parse(last.metadata) as JsonObject) };
    metadata['previousDigest'] = metadata['digest'] as string;
    const forged = { ...last, id: '0198c0de-0000-7000-8000-00000000dead', revision: last.revision + 1n };
    const digest = digestOf({ ...forged, data: JSON.parse(forged.data) as JsonObject, metadata });
    forged.metadata = JSON.stringify({ ...metadata, digest });
    log.of(stream).push(forged);
    log.entries.splice(log.entries.indexOf(last) + 1, 0, forged);
    log.entries.forEach((entry, index) => (entry.position = BigInt(index)));
    expect(found((await verify()).faults)).toContainEqual(['inserted', stream, forged.revision]);
  });

  it.each([
    [1, 2],
    [2, 6],
  ])('two swapped events, %i and %i, are both named', async (one, two) => {
    const entries = log.of('conversation-a');
    const [a, b] = [entries[one] as Entry, entries[two] as Entry];
    const { id, type, data, metadata } = a;
    Object.assign(a, { id: b.id, type: b.type, data: b.data, metadata: b.metadata });
    Object.assign(b, { id, type, data, metadata });
    const { faults } = await verify();
    expect(found(faults)).toEqual([
      ['reordered', 'conversation-a', BigInt(one)],
      ['reordered', 'conversation-a', BigInt(two)],
    ]);
  });

  it('events of two streams that changed places in the log show against an anchor', async () => {
    const [a, b] = [log.of('conversation-a')[0] as Entry, log.of('conversation-b')[0] as Entry];
    const [at, to] = [log.entries.indexOf(a), log.entries.indexOf(b)];
    [log.entries[at], log.entries[to]] = [b, a];
    [a.position, b.position] = [b.position, a.position];
    expect((await verify()).faults.map(({ kind }) => kind)).toContain('reordered');
  });

  it('a stream that was cut off at its end shows against an anchor inside the log', async () => {
    const { length } = log.of('conversation-b');
    take('conversation-b', length - 1);
    take('conversation-b', length - 2);
    log.entries.forEach((entry, index) => (entry.position = BigInt(index)));
    const { faults } = await verify();
    expect(found(faults)).toEqual([['cut_off', 'conversation-b', BigInt(length - 2), BigInt(length - 1)]]);
  });

  it('a log that was cut off with its anchors shows against those outside', async () => {
    const cut = log.entries.splice(log.entries.length - 12);
    for (const { stream } of cut) log.of(stream).pop();
    expect(await verify()).toMatchObject({ ok: true });
    const { faults } = await verify({ outside: outside() });
    for (const { stream, revision } of cut.filter(({ stream }) => stream.startsWith('conversation-')))
      expect(faults.some((f) => f.kind === 'cut_off' && f.stream === stream && within(f, revision))).toBe(true);
    expect(found(faults)).toContainEqual(['cut_off', 'audit-anchors', 4n]);
  });

  it('a chain that was computed anew shows against an anchor', async () => {
    const stream = 'conversation-c';
    const entry = log.of(stream)[2] as Entry;
    entry.data = entry.data.replace('"round"', '"found"');
    chainAnew(stream);
    const { faults } = await verify({ content: undefined as never });
    expect(faults.map(({ kind, stream: of }) => [kind, of])).toEqual([['rewritten', stream]]);
    expect(within(faults[0] as Fault, 2n)).toBe(true);
  });

  it('a log that was written anew with its anchors, by whoever has the key, shows against those outside', async () => {
    const stream = 'conversation-c';
    const entry = log.of(stream)[2] as Entry;
    entry.data = entry.data.replace('"round"', '"found"');
    chainAnew(stream);
    for (const anchor of log.of('audit-anchors')) log.entries.splice(log.entries.indexOf(anchor), 1);
    log.of('audit-anchors').length = 0;
    log.entries.forEach((moved, index) => (moved.position = BigInt(index)));
    await appendNextAnchor(log.store, await lastAnchor(log.store), key, new Date());
    expect(await verify({ content: undefined as never })).toMatchObject({ ok: true });
    expect(
      (await verify({ outside: outside() })).faults.some(
        ({ kind, stream: of }) => kind === 'rewritten' && of === stream,
      ),
    ).toBe(true);
  });

  it('a changed chunk of a payload is named, and the event that refers to it, with a key and without', async () => {
    const chunk = log.entries.find(({ stream }) => stream.startsWith('payload-')) as Entry;
    const { owner, sealed } = JSON.parse(chunk.data) as { owner: string; sealed: string };
    const changed = sealed.slice(0, -20) + (sealed.at(-20) === 'A' ? 'B' : 'A') + sealed.slice(-19);
    chunk.data = JSON.stringify({ owner, sealed: changed });
    for (const keys of [content(), undefined as never]) {
      const { faults } = await verify({ content: keys });
      expect(found(faults)).toContainEqual(['changed', chunk.stream, chunk.revision]);
      expect(faults.filter(({ kind }) => kind === 'payload_broken')).toHaveLength(1);
      expect(faults).toHaveLength(2);
    }
  });

  it('a sealed text of which the whole chain was computed anew does not open', async () => {
    const stream = 'conversation-d';
    const entry = log.of(stream)[0] as Entry;
    entry.data = entry.data.replace(
      /"sealed":"(..\.)(.)/,
      (_, codec: string, c: string) => `"sealed":"${codec}${c === 'A' ? 'B' : 'A'}`,
    );
    chainAnew(stream);
    expect(found((await verify()).faults)).toContainEqual(['seal_broken', stream, 0n]);
  });

  it('what is younger than the last anchor is reported as such', async () => {
    const report = await verify();
    const from = log.of('audit-anchors').at(-1) as Entry;
    expect(report.anchored.to).toBe(from.position - 1n);
    expect(report.anchored.younger).toBe(1);
  });

  it('an anchor of another key is told from those of the keys that are trusted', async () => {
    const { faults } = await verify({ trusted: [newSigningKey().publicKey] });
    expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(['anchor_untrusted']));
    expect(faults).toHaveLength(5);
  });

  it('anchors of an unknown key between those of a known one are untrusted, and not missing', async () => {
    const other = newSigningKey();
    for (const [number, by] of [other, other, key].entries()) {
      await writeNotes(log.store, `conversation-more-${number}`, 1);
      await appendNextAnchor(log.store, await lastAnchor(log.store), by, new Date());
    }
    const { faults } = await verify();
    expect(found(faults)).toEqual([
      ['anchor_untrusted', 'audit-anchors', 5n],
      ['anchor_untrusted', 'audit-anchors', 6n],
    ]);
  });

  it("a change of one conversation is found by its own check, and by no other's", async () => {
    const entry = log.of('conversation-a')[2] as Entry;
    entry.type = 'NoteLost';
    const { faults } = await verify({ conversationId: 'a' });
    judge(placeOf(entry), { ok: false, faults } as never);
    expect(await verify({ conversationId: 'b' })).toMatchObject({ ok: true });
  });
});

const within = ({ revision, through }: Fault, wanted: bigint) =>
  revision !== null && revision <= wanted && wanted <= (through ?? revision);
