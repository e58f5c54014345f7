import fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { compactJson, expandJson } from './compact-json';

describe('compact JSON', () => {
  it('gives back the very same text', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
      fc.string({ unit: 'grapheme' }),
      fc.uuid().map((uuid) => `"${uuid}"`),
      fc.tuple(fc.uuid(), fc.stringMatching(/^[-0-9a-z/]{0,20}$/)).map(([uuid, suffix]) => `"${uuid}${suffix}"`),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => `"b1.${Buffer.from(bytes).toString('base64url')}"`),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => `"${Buffer.from(bytes).toString('base64')}"`),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => `"${Buffer.from(bytes).toString('base64url')}"`),
      fc.uint8Array({ minLength: 31, maxLength: 33 }).map((bytes) => `"${Buffer.from(bytes).toString('hex')}"`),
      fc.date().map((date) => JSON.stringify(date)),
      fc.stringMatching(/^"[A-Za-z0-9+/_=.:-]{0,80}"$/),
      fc.constantFrom('"sealed"', '"nodeId":', '\\"', '"', 'ø', '\u00f8\u00f9', '😀'),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        expect(expandJson(compactJson(text))).toBe(Buffer.from(text).toString());
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps what is written in another way as it is: other padding, last bits, upper case, other times', () => {
    const odd = [
      'QUJDREVGR0hJSktMTU5=',
      'QUJDREVGR0hJSktMTU5P=',
      'QUJDREVGR0hJSktMTR==',
      '2026-02-30T00:00:00.000Z',
      'A'.repeat(33),
    ];
    for (const text of [...odd, randomBytes(32).toString('hex').toUpperCase(), '1969-12-31T23:59:59.999Z']) {
      expect(expandJson(compactJson(`{"a":"${text}"}`))).toBe(`{"a":"${text}"}`);
    }
  });

  it('stores base64, hex and uuids as their bytes', () => {
    const bytes = randomBytes(30_000);
    expect(compactJson(`{"sealed":"${bytes.toString('base64')}"}`).length).toBeLessThan(30_010);
    expect(compactJson(`"${randomBytes(32).toString('hex')}"`)).toHaveLength(33);
    expect(compactJson('"018f3c4e-0000-7000-8000-00000000abcd"')).toHaveLength(17);
    expect(compactJson('"2026-11-30T00:41:34.123Z"')).toHaveLength(7);
  });

  /** Bytes of this shape stand in logs: what they mean never changes. */
  it('reads what was ever stored', () => {
    const stored = [
      'e/gAOv5iMSgABw4VHCMqMTg/Rk1UW2JpcHd+hYyTmqGor7a9xMvS2eDn7vX8AwoRLPgQOv8BjzxOEjR6vI3vABEiM6vNAi0yLPgUOv8BjzxOEj',
      'R6vI3vABEiM6vNKS0yLTAvMDE4ZjNjNGUtMTIzNC03YWJjLThkZWYtMDAxMTIyMzNhYmNkLPgCOvkBjzxOEjR6vI3vABEiM6vNLPgGOvsBoinm',
      'Yqss+Ac6/SAABw4VHCMqMTg/Rk1UW2JpcHd+hYyTmqGor7a9xMvS2SwiaGV4Ijr6AAcOFRwjKjE4P0ZNVFtiaXB3foWMk5qhqK+2vcTL0tksIn',
      'BsYWluIjr8KAAHDhUcIyoxOD9GTVRbYmlwd36FjJOaoaivtr3Ey9LZ4Ofu9fwDChEsImxvbmciOvzIAf//////////////////////////////',
      '//////////////////////////////////////////////////////////////////////////////////////////////////////////////',
      '//////////////////////////////////////////////////////////////////////////////////////////////////////////////',
      '////////////////LPhOOvhNLPg1OiJncsO2w59lciDwn5iAIFx1MDAwMCJ9',
    ].join('');
    const bytes = Array.from({ length: 40 }, (_, i) => (i * 7) & 255);
    const id = '018f3c4e-1234-7abc-8def-00112233abcd';
    const text = expandJson(Buffer.from(stored, 'base64'));
    expect(JSON.parse(text)).toEqual({
      sealed: `b1.${Buffer.from(bytes).toString('base64url')}`,
      nodeId: `${id}-2`,
      runId: `${id}-2-0/${id}`,
      correlationId: id,
      occurredAt: '2026-11-30T00:41:34.123Z',
      digest: Buffer.from(bytes.slice(0, 32)).toString('base64url'),
      hex: Buffer.from(bytes.slice(0, 32)).toString('hex'),
      plain: Buffer.from(bytes).toString('base64'),
      long: Buffer.alloc(200, 0xff).toString('base64'),
      version: 'end_turn',
      text: 'größer 😀 \0',
    });
    expect(compactJson(text).toString('base64')).toBe(stored);
  });

  it('comes to an end whatever the bytes are: with a text, or with an error', () => {
    const ends = (bytes: Uint8Array) => {
      try {
        expect(typeof expandJson(Buffer.from(bytes))).toBe('string');
      } catch (error) {
        expect((error as Error).name).toBe('RangeError');
      }
    };
    const marker = fc.constantFrom(0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff);
    const noise = fc.array(fc.oneof(marker, fc.integer({ min: 0, max: 255 })), { maxLength: 60 });
    fc.assert(
      fc.property(noise, (bytes) => ends(Uint8Array.from(bytes))),
      { numRuns: 5_000 },
    );
    for (const marker of [0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff])
      for (const rest of [[], [0x80], Array<number>(40).fill(0xff), [0x31, 0x62, ...Array<number>(8).fill(0xff)]])
        ends(Uint8Array.from([marker, ...rest]));
  });
});
