import type { FieldDefinition } from './schema';
import { standsIn } from './stands-in';

const field = (type: FieldDefinition['type']): FieldDefinition => ({ name: 'f', type, cardinality: 'one', kind: 'fact', confirm: 'stated', labels: {}, aliases: [] }); // prettier-ignore

it.each([
  ['The budget is 10000.', true],
  ['The budget is 10,000 won.', true],
  ['예산은 1만원이다', true],
  ['about 10k', true],
  ['The budget is 100,000.', false],
  ['The budget is 10.', false],
])('an amount of 10,000 in %j: %s', (text, stands) => {
  expect(standsIn(text, field('money'), { value: 10_000 }, 'en')).toBe(stands);
});

it('a text stands where its words do, whatever their case', () => {
  expect(standsIn('They want ANSWERS in  French.', field('text'), { value: 'answers in french' }, 'en')).toBe(true);
  expect(standsIn('They want answers.', field('text'), { value: 'answers in french' }, 'en')).toBe(false);
});
