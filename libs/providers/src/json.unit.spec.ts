import * as fc from 'fast-check';
import { isJsonObject, parseStorable } from './json';

describe('what a provider sent, parsed for an event', () => {
  it('is the same JSON, but for numbers that no event can hold', () => {
    const isSafe = (value: unknown): boolean =>
      typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value);
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        let safe = true;
        JSON.stringify(value, (_key, inner: unknown) => ((safe &&= isSafe(inner)), inner));
        fc.pre(safe);
        expect(parseStorable(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it.each([
    ['{"n":12345678901234567890}', { n: '12345678901234567890' }],
    [
      '[9007199254740991,9007199254740992,-9007199254740993]',
      [9007199254740991, '9007199254740992', '-9007199254740993'],
    ],
    ['[1e400,1e3,1.5e-7,1e22]', ['1e400', 1000, 1.5e-7, '1e22']],
    [
      '{"12345678901234567890":"12345678901234567890 \\" 12345678901234567890"}',
      { '12345678901234567890': '12345678901234567890 " 12345678901234567890' },
    ],
  ])('keeps %s digit for digit', (text, expected) => {
    expect(parseStorable(text)).toEqual(expected);
  });
});

it.each([
  ['{}', true],
  [' {"a":[1,{"b":2}]} ', true],
  ['{"n":12345678901234567890}', true],
  ['[]', false],
  ['null', false],
  ['', false],
  ['{"a":1', false],
  ['{"a":"\ud800"}', false],
  ['{"a":"\\ud800"}', true],
])('%j is a JSON object that UTF-8 can carry: %s', (text, expected) => {
  expect(isJsonObject(text)).toBe(expected);
});
