import fc from 'fast-check';
import type { Json, JsonObject } from '../src';
import { collect, event, mustStore, newStream, written, type Subject } from './support';

/** Any string that JavaScript can hold: lone surrogates, NUL, and the shapes that an adapter may store in a way of its own. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.uuid(),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.uint8Array({ maxLength: 90 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.stringMatching(/^[A-Za-z0-9+/]{20,40}={0,2}$/),
);
const anyNumber = fc.oneof(
  fc.maxSafeInteger(),
  fc.double({ min: -1e9, max: 1e9, noNaN: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
);
const anyJson = fc.letrec<{ value: Json; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    anyText,
    anyNumber,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  // A null prototype takes `__proto__` as a key like any other, but compares unequal to what JSON.parse makes.
  object: fc.dictionary(
    anyText.filter((key) => key !== '__proto__'),
    tie('value'),
    { maxKeys: 5, noNullPrototype: true },
  ),
}));

export function jsonRules(subject: Subject): void {
  describe('JSON', () => {
    const roundTrip = async (list: JsonObject[]) => {
      const stream = newStream();
      const given = list.map((data) => event(data, 'Written', data));
      await mustStore(subject().store, stream, 'no_stream', given);
      expect((await collect(subject().store.readStream(stream))).map(written)).toEqual(given);
    };

    it('comes back equal: NUL, lone surrogates, emoji, right to left, escapes, integer-like keys', async () => {
      await roundTrip([
        { nul: 'a\0b', 'key\0': 1, lone: '\ud800', low: '\udfff', reversed: '\udc00\ud800', 'key\ud83d': '\ud83dx' },
        {
          emoji: '👩‍👩‍👧‍👦 🇨🇭',
          rtl: 'שלום \u202eعربي\u202c',
          quotes: '"\\"',
          lines: '\r\n\u2028\u2029\u0007',
          bom: '\ufeff',
        },
        {
          10: 'ten',
          9: 'nine',
          '01': 'text',
          '': 'empty key',
          max: Number.MAX_SAFE_INTEGER,
          small: 5e-324,
          half: -0.5,
        },
        {
          high: '\u00f8\u00f9\u00fa\u00fb\u00fc\u00fd\u00fe\u00ff',
          sealed: Buffer.alloc(3_000, 0xfa).toString('base64'),
        },
      ]);
    });

    it('keeps a key named __proto__', async () => {
      const stream = newStream();
      const data = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonObject;
      await mustStore(subject().store, stream, 'no_stream', [event(data)]);
      const [stored] = await collect(subject().store.readStream(stream));
      expect(JSON.stringify(stored!.data)).toBe(JSON.stringify(data));
    });

    it('comes back equal, whatever it is', async () => {
      await fc.assert(fc.asyncProperty(fc.array(anyJson.object, { minLength: 1, maxLength: 4 }), roundTrip), {
        numRuns: 150,
      });
    });

    it('is a copy: who changes what was read or written changes nothing that is stored', async () => {
      const stream = newStream();
      const data = { list: [1] };
      await mustStore(subject().store, stream, 'no_stream', [event(data)]);
      data.list.push(2);
      const [first] = await collect(subject().store.readStream(stream));
      (first!.data['list'] as number[]).push(3);
      const [second] = await collect(subject().store.readStream(stream));
      expect(second!.data).toEqual({ list: [1] });
    });
  });
}
