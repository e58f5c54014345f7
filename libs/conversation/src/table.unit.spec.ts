import fc from 'fast-check';
import { Table } from './table';

const history = fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.integer()), { maxLength: 300 });

describe('a table', () => {
  it('holds what a map holds, at every step', () => {
    fc.assert(
      fc.property(history, (entries) => {
        const map = new Map<string, number>();
        let table = Table.empty<number>();
        for (const [key, value] of entries) {
          map.set(key, value);
          table = table.set(key, value);
          expect(table.get(key)).toBe(value);
          expect(table.size).toBe(map.size);
        }
        expect(new Map(table)).toEqual(map);
        expect(Table.from(table.toJSON()).toJSON()).toEqual(table.toJSON());
      }),
    );
  });

  it('never changes: an older one keeps what it held', () => {
    fc.assert(
      fc.property(history, history, (first, then) => {
        const old = Table.from(first);
        const before = old.toJSON();
        for (const [key, value] of then) old.set(key, value);
        expect(old.toJSON()).toEqual(before);
      }),
    );
  });

  it('tells two keys with equal hashes apart', () => {
    const [one, other] = collision();
    const table = Table.empty<number>().set(one, 1).set(other, 2).set(one, 3);
    expect([table.get(one), table.get(other), table.size]).toEqual([3, 2, 2]);
  });

  it('knows nothing of what every object has', () => {
    expect(Table.empty().set('a', 1).get('constructor')).toBeUndefined();
    expect(Table.empty().set('__proto__', 1).get('__proto__')).toBe(1);
  });
});

/** Two keys that FNV-1a maps to one number: by the birthday bound some 2^16 tries find a pair. */
function collision(): [string, string] {
  const seen = new Map<number, string>();
  for (let n = 0; ; n++) {
    const key = `key-${n * 2654435761}`;
    let hash = 0x811c9dc5;
    for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
    const other = seen.get(hash);
    if (other !== undefined) return [other, key];
    seen.set(hash, key);
  }
}
