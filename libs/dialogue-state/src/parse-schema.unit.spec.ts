import { DEFAULT_SCHEMA, parseSchema } from '@palimpsest/dialogue-state';

const problems = (input: unknown) => {
  const parsed = parseSchema(input);
  return parsed.ok ? [] : parsed.problems.map(({ pointer, detail }) => `${pointer} ${detail}`);
};
const one = (more: object) => ({ fields: [{ name: 'a', type: 'text', kind: 'fact', ...more }] });

describe('a schema', () => {
  it('is filled in: a field is for one value, confirmed when it is stated', () => {
    expect(parseSchema(one({}))).toEqual({
      ok: true,
      schema: {
        fields: [
          { name: 'a', type: 'text', kind: 'fact', cardinality: 'one', confirm: 'stated', labels: {}, aliases: [] },
        ],
      },
    });
  });

  it('reads back as it is, the default one too', () => {
    expect(parseSchema(DEFAULT_SCHEMA)).toEqual({ ok: true, schema: DEFAULT_SCHEMA });
    const own = {
      fields: [{ name: 'a', type: 'enum', kind: 'choice', values: ['x', { value: 'y', labels: { ko: '와이' } }] }],
    };
    const parsed = parseSchema(own);
    expect(parsed.ok && parseSchema(parsed.schema)).toEqual(parsed);
  });

  it('takes the names that people give to slots', () => {
    for (const name of ['restaurant-book time', '예산', 'budget_2', 'a']) expect(problems(one({ name }))).toEqual([]);
  });

  it.each([
    [null, ' is an object'],
    [{}, '/fields is a list'],
    [{ fields: [], more: 1 }, '/more is not known'],
    [{ fields: [1] }, '/fields/0 is an object'],
    [one({ name: '' }), '/fields/0/name is not empty'],
    [one({ name: '__proto__' }), '/fields/0/name has letters'],
    [one({ name: 'a\nb' }), '/fields/0/name is one line'],
    [one({ name: 'x'.repeat(65) }), '/fields/0/name has 65 characters, and may have 64'],
    [one({ type: 'json' }), '/fields/0/type is one of text'],
    [one({ kind: undefined }), '/fields/0/kind is one of goal'],
    [one({ cardinality: 'many' }), '/fields/0/cardinality is one of one, set'],
    [one({ confirm: 'never' }), '/fields/0/confirm is one of stated'],
    [one({ labels: { EN: 'x' } }), '/fields/0/labels/EN is named by a language code'],
    [one({ labels: { ko: 1 } }), '/fields/0/labels/ko is a text'],
    [one({ type: 'enum' }), '/fields/0/values is required for an enum'],
    [one({ type: 'enum', values: ['a', 'A'] }), '/fields/0/values/1/value stands in the list already'],
    [one({ values: ['a'] }), '/fields/0/values is for fields of type enum'],
    [one({ type: 'money', currency: 'won' }), '/fields/0/currency is an ISO 4217 code'],
    [one({ units: ['m'] }), '/fields/0/units is for fields of type number'],
    [one({ 'a/b~': 1 }), '/fields/0/a~1b~0 is not known'],
    [{ fields: Array(65).fill(one({}).fields[0]) }, '/fields has 65 entries, and may have 64'],
    [{ fields: [one({}).fields[0], one({ name: 'A' }).fields[0]] }, '/fields/1/name stands in the list already'],
  ])('that is wrong is told where and how: %j', (input, problem) => {
    expect(problems(input)).toContainEqual(expect.stringContaining(problem));
  });
});
