import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { ContentKeys, keyedDigest } from './content-keys';
import type { Place } from './envelope';
import { SealBroken } from './errors';

const keys = new ContentKeys('conversation-1', Buffer.alloc(32, 7));
const place: Place = { stream: 'conversation-1', id: 'e1', type: 'TurnStarted', field: 'content' };
/** Stored envelopes open for ever. */
const FIRST_RAW = 'r1.fJAeRT8NYenXdNiNFmnpFZRaMabGJoVfcPXfSeFOkt8BL7OGN_1gf0Y';
const FIRST_BROTLI =
  'b1.BM5LB2wawlytWsqnvUqlWDnlwOyWfLhhh1vpj7VSa_y35VfjsTfR9JMRBC_-Ai0CCLOYECOByRcPHaN76kEW8VAWdVhRVnBh7fRXnV28';

/** Any JSON, with NUL, lone surrogates and every other UTF-16 unit in its texts. */
const json = fc.jsonValue({ stringUnit: 'binary' });
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
);

const bodyOf = (sealed: string) => Buffer.from(sealed.slice(3), 'base64url');

describe('the sealed envelope', () => {
  it('opens to the JSON that was sealed, whatever it is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(json, anyText), async (content) => {
        const opened = await keys.open(place, await keys.seal(place, content as never));
        expect(opened).toEqual(JSON.parse(JSON.stringify(content)));
      }),
      { numRuns: 300 },
    );
  });

  it.each(['\0', '\ud800', 'a\udc00b', '😀', 'שלום', ''])('keeps %j as it is', async (text) => {
    expect(await keys.open(place, await keys.seal(place, { text }))).toEqual({ text });
  });

  it('names its codec, and leaves short texts uncompressed', async () => {
    expect(await keys.seal(place, 'ok')).toMatch(/^r1\.[A-Za-z0-9_-]+$/);
    expect(await keys.seal(place, 'the same again and again, '.repeat(9))).toMatch(/^b1\.[A-Za-z0-9_-]+$/);
  });

  it('seals large texts too, in the thread pool', async () => {
    const text = randomBytes(300_000).toString('hex');
    expect(await keys.open(place, await keys.seal(place, text))).toBe(text);
  });

  it('gives the same bytes for the same text in the same place, and another nonce for any other', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyText, async (one, other) => {
        const [a, b] = [await keys.seal(place, one), await keys.seal(place, other)];
        if (one === other) expect(a).toBe(b);
        else expect(bodyOf(a).subarray(0, 12).equals(bodyOf(b).subarray(0, 12))).toBe(false);
        const elsewhere = await keys.seal({ ...place, id: 'e2' }, one);
        expect(bodyOf(a).subarray(0, 12).equals(bodyOf(elsewhere).subarray(0, 12))).toBe(false);
      }),
    );
  });

  it('finds a change of any character', async () => {
    const sealed = await keys.seal(place, { text: 'the same again and again, the same again' });
    for (let at = 0; at < sealed.length; at += 1) {
      for (const other of ['A', 'B', '_', '.', '=']) {
        if (sealed[at] === other) continue;
        const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
        await expect(keys.open(place, changed)).rejects.toBeInstanceOf(SealBroken);
      }
    }
    for (const changed of [
      '',
      sealed.slice(0, -1),
      `${sealed}A`,
      `${sealed}=`,
      ` ${sealed}`,
      sealed.replace('b1', 'r1'),
    ])
      await expect(keys.open(place, changed)).rejects.toBeInstanceOf(SealBroken);
  });

  it.each(['stream', 'id', 'type', 'field'] as const)('does not open under another %s', async (field) => {
    const sealed = await keys.seal(place, { text: 'x' });
    const moved = { ...place, [field]: 'other', revision: 4n };
    await expect(keys.open(moved, sealed)).rejects.toMatchObject({ stream: moved.stream, revision: 4n });
  });

  it('does not open under another key', async () => {
    const sealed = await keys.seal(place, 'x');
    await expect(new ContentKeys('conversation-1', Buffer.alloc(32, 8)).open(place, sealed)).rejects.toBeInstanceOf(
      SealBroken,
    );
  });

  it('stays readable: a string that was sealed by the first version', async () => {
    expect(await keys.open(place, FIRST_RAW)).toEqual({ text: 'ok' });
    expect(await keys.open(place, FIRST_BROTLI)).toEqual({ text: 'the same again and again, '.repeat(4) });
  });
});

describe('keyed digests', () => {
  it('differ by key, purpose and text, and have 22 characters', () => {
    const key = Buffer.alloc(32, 1);
    const digest = keyedDigest(key, 'arguments', '{}');
    expect(digest).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(keyedDigest(key, 'arguments', '{}')).toBe(digest);
    expect(keyedDigest(key, 'body', '{}')).not.toBe(digest);
    expect(keyedDigest(key, 'arguments', '{ }')).not.toBe(digest);
    expect(keyedDigest(Buffer.alloc(32, 2), 'arguments', '{}')).not.toBe(digest);
  });
});
