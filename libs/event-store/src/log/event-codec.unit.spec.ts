import { createHash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { context, FaultyStore, testKeys } from '../../testing';
import { InvalidEvent } from '../errors';
import { MemoryKeyStore } from '../keys/memory-key-store';
import { InMemoryEventStore } from '../memory-event-store';
import type { NewEvent, StoredEvent } from '../port';
import { KeyLost, SealBroken, Sealed } from '../sealing/errors';
import { verifyChain } from './digest-chain';
import { type Draft, EventCodec, keyIdOf } from './event-codec';
import { CHUNK_BYTES, type PayloadReference } from './payloads';

const stream = 'conversation-1';
const start = { revision: -1n, digest: null };
const encoding = () => ({
  appending: { backoff: { minMs: 0, maxMs: 1 } },
  payloads: new Map<string, PayloadReference>(),
});
const said = (content: unknown, data: object = { kind: 'turn' }): Draft => ({ type: 'Said', data, content });

async function world() {
  const log = new InMemoryEventStore();
  const store = new FaultyStore(log);
  const keys = testKeys();
  for (const id of ['1', '2']) await keys.forConversation(id);
  const codec = new EventCodec({ store, keys });
  const read = async (name: string) => {
    const events: StoredEvent[] = [];
    for await (const event of log.readStream(name)) events.push(event);
    return events;
  };
  const put = async (drafts: Draft[], into = stream) => {
    const events = await codec.encode(into, start, drafts, context, encoding());
    await log.append(into, 'no_stream', events);
    return read(into);
  };
  return { log, store, keys, codec, read, put };
}

describe('the event codec', () => {
  it('gives back any data and content', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue({ stringUnit: 'binary' }).filter((content) => content !== null),
        fc.dictionary(
          fc.string({ unit: 'binary' }),
          fc.oneof(fc.string({ unit: 'binary' }), fc.maxSafeInteger(), fc.boolean()),
        ),
        async (content, data) => {
          const { put, codec } = await world();
          const [event] = await put([said(content, data)]);
          const decoded = codec.decode(event!);
          expect(decoded.data).toEqual(JSON.parse(JSON.stringify(data)));
          expect(await decoded.open()).toEqual(JSON.parse(JSON.stringify(content)));
          expect(verifyChain([event!]).ok).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('seals all that is content and keeps the rest in the clear', async () => {
    const { put } = await world();
    const [event] = await put([said({ text: 'a secret word' }, { turnId: 't1' })]);
    expect(event).toMatchObject({ type: 'Said', data: { turnId: 't1', sealed: expect.stringMatching(/^[br]1\./) } });
    expect(event!.metadata).toEqual({
      ...context,
      schemaVersion: 1,
      digest: expect.stringMatching(/^[\w-]{43}$/),
      previousDigest: null,
    });
    expect(event!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  it('makes new ids and nonces each time it is asked', async () => {
    const { codec } = await world();
    const [a] = await codec.encode(stream, start, [said('x')], context, encoding());
    const [b] = await codec.encode(stream, start, [said('x')], context, encoding());
    expect(a!.id).not.toBe(b!.id);
    expect(a!.data['sealed']).not.toBe(b!.data['sealed']);
  });

  it('opens no event in the place of another', async () => {
    const { put, codec } = await world();
    const [one, two] = (await put([said('one'), said('two')])) as [StoredEvent, StoredEvent];
    await expect(codec.decode({ ...one, data: two.data }).open()).rejects.toMatchObject({ stream, revision: 0n });
    await expect(codec.decode({ ...one, stream: 'conversation-2' }).open()).rejects.toBeInstanceOf(SealBroken);
  });

  it('says of a key that it was destroyed, or that it is lost, and still decodes and verifies', async () => {
    const log = new InMemoryEventStore();
    const rows = new MemoryKeyStore();
    const keys = testKeys(rows);
    await keys.forConversation('1', 'anna');
    const codec = new EventCodec({ store: log, keys });
    await log.append(stream, 'no_stream', await codec.encode(stream, start, [said('x')], context, encoding()));
    let event: StoredEvent | undefined;
    for await (event of log.readStream(stream));
    await keys.destroy('subject-anna');
    const decoded = codec.decode(event!);
    await expect(decoded.open()).rejects.toBeInstanceOf(Sealed);
    await expect(codec.encode(stream, start, [said('y')], context, encoding())).rejects.toBeInstanceOf(Sealed);
    expect(decoded.data).toEqual({ kind: 'turn' });
    expect(verifyChain([event!]).ok).toBe(true);
    rows.lose('subject-anna');
    await expect(codec.decode(event!).open()).rejects.toBeInstanceOf(KeyLost);
  });

  it('seals assistants and audits under the tenant, and knows no other streams', () => {
    expect(keyIdOf('conversation-1', 't')).toBe('conversation-1');
    expect(keyIdOf('assistant-1', 't')).toBe('tenant-t');
    expect(keyIdOf('audit-t-p-d', 't')).toBe('tenant-t');
    expect(() => keyIdOf('orders-1', 't')).toThrow(InvalidEvent);
  });

  it('refuses data that would not survive, and a data field of the name that it uses itself', async () => {
    const { codec } = await world();
    const encode = (draft: Draft) => codec.encode(stream, start, [draft], context, encoding());
    await expect(encode(said('x', { big: 2 ** 60 }))).rejects.toBeInstanceOf(InvalidEvent);
    await expect(encode(said('x', { sealed: 'mine' }))).rejects.toBeInstanceOf(InvalidEvent);
    await expect(encode(said({ big: NaN }))).rejects.toBeInstanceOf(InvalidEvent);
  });

  it('brings an older shape into today’s', async () => {
    const { log, put } = await world();
    const [event] = await put([said('x', { old: 1 })]);
    const codec = new EventCodec({
      store: log,
      keys: testKeys(),
      upcast: ({ type, schemaVersion, data }) => ({ type: `${type}Newly`, data: { ...data, was: schemaVersion } }),
    });
    expect(codec.decode(event!)).toMatchObject({ type: 'SaidNewly', data: { old: 1, was: 1 } });
  });
});

describe('a payload', () => {
  /** Does not compress: two characters for each of its bytes, brotli takes half of that away. */
  const noise = (bytes: number) => randomBytes(bytes / 2).toString('hex');

  it('holds what is too large for an event, in chunks that fit an append, each sealed under the owner’s key', async () => {
    const { put, codec, read } = await world();
    const text = noise(3_000_000);
    const [event] = await put([said({ text })]);
    const reference = event!.data['sealed'] as unknown as PayloadReference;
    expect(JSON.stringify(event!.data).length).toBeLessThan(400);
    const chunks = await read(`payload-${reference.payload}`);
    expect(reference).toMatchObject({ chunks: chunks.length, codec: 'b1', length: text.length + 11 });
    expect(chunks.length).toBeGreaterThan(2);
    for (const chunk of chunks) {
      expect(JSON.stringify(chunk.data).length).toBeLessThan((CHUNK_BYTES * 4) / 3 + 300);
      expect(chunk.data['owner']).toBe('conversation-1');
    }
    expect(verifyChain(chunks).ok).toBe(true);
    expect(((await codec.decode(event!).open()) as { text: string }).text === text).toBe(true);
  });

  it('is written before the event, and outlasts a store that gives no answer', async () => {
    const { store, codec, read } = await world();
    store.fail('stored', 'not_stored', 'late', 'none', 'stored');
    const [event] = await codec.encode(stream, start, [said(noise(1_500_000))], context, encoding());
    const reference = event!.data['sealed'] as unknown as PayloadReference;
    expect(await read(`payload-${reference.payload}`)).toHaveLength(reference.chunks);
    expect(await read(stream)).toHaveLength(0);
  });

  it('is written once, however often the event is decided again', async () => {
    const { codec, log } = await world();
    const known = encoding();
    const draft = said({ text: noise(1_000_000) });
    await codec.encode(stream, start, [draft], context, known);
    const written = await log.lastPosition();
    const events = await codec.encode(stream, start, [structuredClone(draft)], context, known);
    expect(await log.lastPosition()).toBe(written);
    await log.append(stream, 'no_stream', events);
    for await (const event of log.readStream(stream)) expect(await codec.decode(event).open()).toEqual(draft.content);
  });

  it('takes the largest contents where all of them together are too large for one append', async () => {
    const { put, codec } = await world();
    const texts = Array.from({ length: 10 }, (_, i) => noise(100_000 + i * 10_000));
    const events = await put(texts.map((text) => said(text)));
    const inline = events.filter((event) => typeof event.data['sealed'] === 'string');
    expect(inline.length).toBeGreaterThan(3);
    expect(inline.length).toBeLessThan(10);
    expect(await Promise.all(events.map((event) => codec.decode(event).open()))).toEqual(texts);
  });

  it('does not open where a chunk was changed, exchanged, cut off or added, or the reference moved', async () => {
    const { put, codec, read, log, keys } = await world();
    const [one, two] = (await put([said(noise(2_200_000)), said(noise(2_200_000))])) as [StoredEvent, StoredEvent];
    const reference = one.data['sealed'] as unknown as PayloadReference;
    const chunks = await read(`payload-${reference.payload}`);
    const opened = async (events: NewEvent[]) => {
      const other = new InMemoryEventStore();
      for (const [index, event] of events.entries())
        await other.append(`payload-${reference.payload}`, index === 0 ? 'no_stream' : BigInt(index - 1), [event]);
      return new EventCodec({ store: other, keys }).decode(one).open();
    };
    await expect(opened(chunks)).resolves.toBeDefined();
    const [first, second, ...rest] = chunks as [StoredEvent, StoredEvent, ...StoredEvent[]];
    await expect(opened([second, first, ...rest])).rejects.toBeInstanceOf(SealBroken);
    await expect(opened([first, second])).rejects.toBeInstanceOf(SealBroken);
    await expect(opened([{ ...first, data: second.data }, second, ...rest])).rejects.toBeInstanceOf(SealBroken);
    await expect(codec.decode({ ...two, data: one.data }).open()).rejects.toBeInstanceOf(SealBroken);
    await log.append(`payload-${reference.payload}`, BigInt(chunks.length - 1), [{ ...second, id: two.id }]);
    await expect(codec.decode(one).open()).rejects.toBeInstanceOf(SealBroken);
  });

  it('takes 32 MiB of text, compressible or not, and gives back every byte', async () => {
    for (const text of ['{"row": 1, "name": "once more"}\n'.repeat(1_000_000), noise(32 * 1024 * 1024)]) {
      const { put, codec } = await world();
      const [event] = await put([said({ text })]);
      const opened = (await codec.decode(event!).open()) as { text: string };
      expect(sha(opened.text)).toBe(sha(text));
    }
  });
});

const sha = (text: string) => createHash('sha256').update(text).digest('hex');
