import fc from 'fast-check';
import { derivedId, randomIds } from './ids';

it('makes ids in lower case that sort in the order of their making', () => {
  const made = Array.from({ length: 2_000 }, () => randomIds.next());
  expect(new Set(made).size).toBe(made.length);
  expect([...made].sort()).toEqual(made);
  expect(made[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

it('derives the same id from the same parts, and another from any others', () => {
  const parts = fc.array(fc.string({ maxLength: 4 }), { maxLength: 4 });
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      expect(derivedId(...one) === derivedId(...other)).toBe(same);
    }),
  );
});

it('derives for ever what it derived in the first version', () => {
  expect(derivedId('tenant', 'actor', 'POST /v1/conversations', 'key')).toBe('0d5b9c2b-b119-5d04-ae3c-8ef09d188b7c');
});
