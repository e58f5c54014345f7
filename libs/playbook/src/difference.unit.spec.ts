import fc from 'fast-check';
import { type Difference, differencesOf } from './difference';

describe('differences between versions', () => {
  it('name what was added, removed and changed by its place', () => {
    const before = { title: 'A', goal: 'G', steps: [{ instruction: 'one' }], 'a/b': 1 };
    const after = { title: 'B', steps: [{ instruction: 'one', tool: 'sql' }], checks: [], 'a/b': 2 };
    expect(differencesOf(before, after)).toEqual([
      { op: 'changed', pointer: '/title', before: 'A', after: 'B' },
      { op: 'removed', pointer: '/goal', before: 'G' },
      { op: 'added', pointer: '/steps/0/tool', after: 'sql' },
      { op: 'changed', pointer: '/a~1b', before: 1, after: 2 },
      { op: 'added', pointer: '/checks', after: [] },
    ]);
  });

  it('find a step again that others moved', () => {
    const [one, two, three] = [{ instruction: 'one' }, { instruction: 'two' }, { instruction: 'three' }];
    expect(differencesOf([one, two], [three, one, two])).toEqual([{ op: 'added', pointer: '/0', after: three }]);
    expect(differencesOf([one, two, three], [one, three])).toEqual([{ op: 'removed', pointer: '/1', before: two }]);
    expect(differencesOf([one, two, 3], [one, 0, { instruction: 'two!' }, 3])).toEqual([
      { op: 'changed', pointer: '/1', before: two, after: 0 },
      { op: 'added', pointer: '/2', after: { instruction: 'two!' } },
    ]);
    expect(differencesOf([one, { x: 1 }], [three, one, { x: 2 }])).toEqual([
      { op: 'added', pointer: '/0', after: three },
      { op: 'changed', pointer: '/2/x', from: '/1/x', before: 1, after: 2 },
    ]);
  });

  it('are none between equal documents, whatever the order of their keys', () => {
    expect(differencesOf({ a: 1, b: { c: [2], d: 3 } }, { b: { d: 3, c: [2] }, a: 1 })).toEqual([]);
  });

  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

  it('are none if and only if the documents are equal, and each tells what stands at its places', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(differencesOf(before, before)).toEqual([]);
        const differences = differencesOf(before, after);
        for (const difference of differences) expect(standsThere(difference, before, after)).toBe(true);
        const [a, b] = [fc.stringify(sorted(before)), fc.stringify(sorted(after))];
        expect(differences.length === 0).toBe(a === b);
      }),
      { numRuns: 300 },
    );
  });

  it('say as much in both directions', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3), { maxLength: 8 }), fc.array(fc.nat(3), { maxLength: 8 }), (before, after) => {
        const count = (of: readonly Difference[], op: Difference['op']) => of.filter((one) => one.op === op).length;
        const [there, back] = [differencesOf(before, after), differencesOf(after, before)];
        expect(count(there, 'added') - count(there, 'removed')).toBe(after.length - before.length);
        expect(count(back, 'added') - count(back, 'removed')).toBe(before.length - after.length);
      }),
    );
  });
});

function standsThere(difference: Difference, before: unknown, after: unknown): boolean {
  const { pointer } = difference;
  if (difference.op === 'added') return at(after, pointer) === fc.stringify(difference.after);
  if (difference.op === 'removed') return at(before, pointer) === fc.stringify(difference.before);
  const { from = pointer } = difference;
  return at(before, from) === fc.stringify(difference.before) && at(after, pointer) === fc.stringify(difference.after);
}

function at(document: unknown, pointer: string): string {
  let value = document;
  for (const token of pointer.split('/').slice(1))
    value = (value as Record<string, unknown>)[token.replaceAll('~1', '/').replaceAll('~0', '~')];
  return fc.stringify(value);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value;
  // Told apart from a list.
  const entries = Object.entries(value)
    .map(([key, part]) => [key, sorted(part)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { entries };
}
