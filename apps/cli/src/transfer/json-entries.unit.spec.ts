import fc from 'fast-check';
import { type JsonEntry, jsonEntries, NoJson } from './json-entries';

async function* inPieces(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function entriesOf(text: string | Buffer, size = 7, maxBytes = 1000): Promise<JsonEntry[]> {
  const found: JsonEntry[] = [];
  for await (const entry of jsonEntries(inPieces(Buffer.from(text), size), maxBytes)) found.push(entry);
  return found;
}
const shown = (entries: readonly JsonEntry[]) => entries.map((entry) => ('fault' in entry ? entry.fault : entry.value));

describe('the entries of a file', () => {
  it('of any list are what JSON.parse has, however the bytes arrive', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.json(),
            fc.string({ unit: 'binary' }).map((text) => JSON.stringify({ text })),
          ),
        ),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(',', ' ,\n', '\t,\r\n '),
        async (values, size, comma) => {
          const text = `\ufeff [${values.join(comma)}]\n`;
          const entries = await entriesOf(text, size, 1e6);
          expect(shown(entries)).toEqual(JSON.parse(text.slice(1)));
          entries.forEach(({ to }, at) => expect(to).toBeGreaterThan(entries[at - 1]?.to ?? 0));
        },
      ),
    ));

  it('of one object are the object', async () => {
    expect(shown(await entriesOf('{"a": [1, {"b": "}\\"]"}]}'))).toEqual([{ a: [1, { b: '}"]' }] }]);
  });

  it('that are broken are faults, and the others are there', async () => {
    const bad = Buffer.concat([
      Buffer.from('[{"a":1},{"a":},{"a":"'),
      Buffer.from([0xff]),
      Buffer.from('"},{"b":2},{"a"'),
    ]);
    expect(shown(await entriesOf(bad))).toEqual([{ a: 1 }, 'no_json', 'no_utf8', { b: 2 }, 'cut_short']);
    expect(shown(await entriesOf('{"format":'))).toEqual(['cut_short']);
  });

  it('that are too large are passed over without being held', async () => {
    const large = JSON.stringify('x'.repeat(2000));
    expect(shown(await entriesOf(`[1,${large},[${large}],2]`))).toEqual([1, 'too_large', 'too_large', 2]);
  });

  it('are as deep as they are', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const [entry] = await entriesOf(`[${deep}]`, 1000, 1e6);
    expect(entry).toHaveProperty('value');
  });

  it.each(['', ' \n', '7', '"text"', 'PK\u0003\u0004', '[1] [2]', '{} x'])(
    'a file is refused that is none: %j',
    async (text) => {
      await expect(entriesOf(text)).rejects.toThrow(NoJson);
    },
  );
});
