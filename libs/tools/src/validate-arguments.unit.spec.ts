import fc from 'fast-check';
import { maxArgumentsLength, checkSchema, validateArguments } from './validate-arguments';

const tool = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  name: 'book',
  inputSchema: { type: 'object', properties, additionalProperties: false, ...more },
});
const told = (definition: ReturnType<typeof tool>, raw: string): string => {
  const checked = validateArguments(definition, raw);
  return checked.ok ? 'ok' : checked.text;
};

describe('the arguments of a tool call', () => {
  const booking = tool({ city: { type: 'string' }, nights: { type: 'integer', minimum: 1 } }, { required: ['city'] });

  it('are taken as the model wrote them where they fit', () => {
    expect(told(booking, '{"city":"Seoul"}')).toBe('ok');
    expect(told(booking, ' { "nights" : 12345678901234567890, "city" : "\\ud800" } ')).toBe('ok');
  });

  it('are none where the string is empty', () => {
    expect(told(tool({}), '')).toBe('ok');
    expect(told(tool({}), ' \n')).toBe('ok');
    expect(told(booking, '')).toContain("must have required property 'city'");
  });

  it.each([
    ['{"city":', 'are not valid JSON'],
    ['{"city":"a"} {"city":"b"}', 'are not valid JSON'],
    ["{'city':'a'}", 'are not valid JSON'],
    ['[]', 'must be a JSON object, and are an array'],
    ['null', 'must be a JSON object, and are null'],
    ['"city"', 'must be a JSON object, and are a string'],
    ['{"city":1}', '/city must be string'],
    ['{"city":"a","nights":0}', '/nights must be >= 1'],
    ['{"city":"a","nights":1.5}', '/nights must be integer'],
    ['{"city":"a","town":"b"}', 'must NOT have additional properties: "town"'],
    ['{"city":"a","__proto__":{}}', 'must NOT have additional properties: "__proto__"'],
    ['{"nights":0,"town":1}', /required property.*additional properties.*>= 1/],
  ])('are refused in words that the model can act on: %s', (raw, words) => {
    expect(told(booking, raw)).toMatch(words);
  });

  it('name what is allowed', () => {
    expect(told(tool({ unit: { enum: ['km', 'mi'] } }), '{"unit":"m"}')).toContain(
      '/unit must be equal to one of the allowed values: ["km","mi"]',
    );
    expect(told(tool({ unit: { const: 'km' } }), '{"unit":"m"}')).toContain('"km"');
  });

  it('have own properties only', () => {
    expect(told(tool({}, { required: ['constructor'] }), '{}')).toContain("required property 'constructor'");
  });

  it('are answered in a few lines, however many things are wrong', () => {
    const wrong = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${'x'.repeat(1_000)}${n}`, n]));
    const text = told(booking, JSON.stringify(wrong));
    expect(text).toContain('more.');
    expect(text.length).toBeLessThan(4_000);
  });

  it('are refused where they are too long, or nest too deeply', () => {
    expect(told(booking, `{"city":"${'a'.repeat(maxArgumentsLength)}"}`)).toContain(`at most ${maxArgumentsLength}`);
    const tree = tool({ child: { $ref: '#' } });
    expect(told(tree, '{"child":'.repeat(50_000) + '{}' + '}'.repeat(50_000))).toBe(
      'The arguments of book nest too deeply.',
    );
    expect(told(tree, '{"child":{"child":{"child":1}}}')).toContain('/child/child/child must be object');
  });

  it('do not hold the process by a pattern that backtracks', () => {
    const trap = tool({ name: { type: 'string', pattern: '^(a+)+$' }, code: { type: 'string', pattern: '^[0-9]+$' } });
    const started = process.cpuUsage();
    expect(told(trap, JSON.stringify({ name: `${'a'.repeat(60)}!` }))).toContain('/name must match pattern');
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1_000).toBeLessThan(1_000);
    expect(told(trap, '{"name":"aaa","code":"12"}')).toBe('ok');
    expect(told(trap, '{"name":"aaa","code":"aaa"}')).toContain('/code must match pattern');
  });

  it('never make the check throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((value) => JSON.stringify({ city: value })),
        ),
        (raw) => {
          const checked = validateArguments(booking, raw);
          expect(checked.ok || checked.text.startsWith('The arguments of book')).toBe(true);
        },
      ),
    );
  });
});

describe('the input schema of a tool', () => {
  it.each([
    [{ type: 'object', properties: { a: { type: 'wrong' } } }, /schema is invalid/],
    [{ type: 'object', properties: { a: { pattern: '(' } } }, /regular expression/i],
    [{ type: 'object', properties: { a: { $ref: 'https://example.com/schema' } } }, /can't resolve reference/],
    [{ type: 'string' }, /its type must be "object"/],
    [{}, /its type must be "object"/],
    [{ type: 'object', $async: true }, /asynchronous/],
    [{ type: 'object', $schema: 'https://example.com/draft' }, /no schema with key or ref/],
    [{ type: 'object', description: 'x'.repeat(70_000) }, /at most 65536/],
    [
      JSON.parse(`{"type":"object","properties":${'{"a":{"properties":'.repeat(100)}{}${'}}'.repeat(100)}}`),
      /levels deep/,
    ],
  ])('is refused with a reason: %#', (schema, words) => {
    const checked = checkSchema(schema as Record<string, unknown>);
    expect(checked).toEqual({ ok: false, text: expect.stringMatching(words) });
  });

  it('may be of draft 7 or 2020-12, may have formats and words that we do not know, and may share its $id', () => {
    for (const $schema of ['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2020-12/schema'])
      for (const title of ['one', 'two'])
        expect(
          checkSchema({
            $schema,
            $id: 'https://example.com/same',
            title,
            type: 'object',
            'x-ours': 1,
            properties: { at: { type: 'string', format: 'date' } },
          }),
        ).toEqual({ ok: true });
    const pairs = {
      name: 'pairs',
      inputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false } },
      },
    };
    expect(validateArguments(pairs, '{"pair":["a",1]}').ok).toBe(true);
    expect(validateArguments(pairs, '{"pair":["a","b"]}').ok).toBe(false);
  });

  it('is compiled once, and as often as needed after a thousand others', () => {
    const sized = (n: number) => ({ name: 'sized', inputSchema: { type: 'object', properties: { n: { const: n } } } });
    for (let n = 0; n < 1_000; n++) expect(validateArguments(sized(n), `{"n":${n}}`).ok).toBe(true);
    expect(validateArguments(sized(0), '{"n":0}').ok).toBe(true);
    expect(validateArguments(sized(0), '{"n":1}').ok).toBe(false);
  });
});
