import Ajv from 'ajv';
import fc from 'fast-check';
import { DEFAULT_SCHEMA } from '../default-schema';
import { answerSchema } from './answer-schema';
import { EXTRACT, extractionInstruction } from './instruction';
import { readExtraction } from './read-extraction';

const TAGS = ['fact', 'chit-chat'] as const;
const turn = {
  schema: DEFAULT_SCHEMA,
  question: 'We can spend 20,000 by next Friday; no nuts for Ann.',
  moment: { at: '2026-11-30T00:00:00.000Z', zone: 'Asia/Seoul' },
};
const statement = { field: 'budget', holds: true, value: '20,000', key: '', quote: 'We can spend 20,000' };
const read = (answer: unknown) => readExtraction(JSON.stringify(answer), turn, TAGS);
const one = (more: object) => read({ statements: [{ ...statement, ...more }], tags: [] });
const detail = (answer: ReturnType<typeof read>) => (answer.ok ? 'it fits' : answer.detail);

describe('an extraction’s answer', () => {
  it('is read as values of the fields, in the zone of the turn, with the words that they rest on', () => {
    const read = one({ field: 'deadline', value: 'next Friday', quote: 'by next Friday' });
    expect(read).toMatchObject({
      ok: true,
      found: {
        statements: [{ by: 'user', retract: false, content: { value: '2026-12-11', quote: 'by next Friday' } }],
      },
    });
    expect(one({ value: '2만원' })).toMatchObject({ found: { statements: [{ content: { value: 20_000, currency: 'KRW' } }] } }); // prettier-ignore
  });

  it('counts as the user’s only where the quoted words stand in the question', () => {
    for (const quote of ['', 'We can spend 30,000', '0,000', '20,000 by Friday'])
      expect(one({ quote })).toMatchObject({ found: { statements: [{ by: 'model' }] } });
    expect(one({ quote: 'we can  spend 20,000' })).toMatchObject({ found: { statements: [{ by: 'user' }] } });
  });

  it('has a key in a set alone, and takes back a value, or without one all of the field', () => {
    const set = { field: 'constraints', key: 'nuts', value: 'no nuts', quote: 'no nuts' };
    expect(one(set)).toMatchObject({ found: { statements: [{ content: { key: 'nuts', value: 'no nuts' } }] } });
    const content = (answer: ReturnType<typeof read>) => (answer.ok ? answer.found.statements[0]?.content : undefined);
    expect(content(one({ key: 'nuts' }))).toEqual({ value: 20_000, quote: 'We can spend 20,000' });
    expect(one({ holds: false })).toMatchObject({ found: { statements: [{ retract: true, content: { value: 20_000 } }] } }); // prettier-ignore
    expect(content(one({ holds: false, value: '', quote: '' }))).toEqual({});
  });

  it('tags each message once: the last tag counts', () => {
    const tags = [{ message: 'question', tag: 'fact' }, { message: 'answer', tag: 'fact' }, { message: 'question', tag: 'chit-chat' }]; // prettier-ignore
    expect(read({ statements: [], tags })).toMatchObject({
      found: {
        tags: [
          { message: 'question', tag: 'chit-chat' },
          { message: 'answer', tag: 'fact' },
        ],
      },
    });
  });

  it.each([
    ['no JSON', () => readExtraction('Sorry.', turn, TAGS), 'The answer is no JSON.'],
    ['a list', () => read([]), 'The answer is no object.'],
    ['half of it', () => read({ statements: [] }), 'The answer has no tags.'],
    [
      'more than asked',
      () => read({ statements: [], tags: [], state: {} }),
      'The answer has more than statements, tags.',
    ],
    ['a field that is none', () => one({ field: 'mood' }), 'statements[0].field is none of the fields.'],
    ['a name of every object', () => one({ field: 'constructor' }), 'statements[0].field is none of the fields.'],
    ['a number', () => one({ value: 20 }), 'statements[0].value is no text.'],
    ['an amount in two countries', () => one({ value: '20.000' }), 'statements[0].value: budget takes an amount'],
    ['nothing that holds', () => one({ value: ' ' }), 'statements[0].value is empty'],
    ['an endless quote', () => one({ quote: 'a'.repeat(3000) }), 'statements[0].quote has 3000 characters'],
    ['too many', () => read({ statements: Array(101).fill(statement), tags: [] }), 'statements has 101 entries'],
    ['a tag that is none', () => read({ statements: [], tags: [{ message: 'answer', tag: 'nice' }] }), 'tags[0].tag is none of'], // prettier-ignore
  ])('is refused as a whole for %s, and no word of it is repeated', (_what, answer, why) => {
    expect(detail(answer())).toContain(why);
  });

  it('is refused by no schema that it is read by, and never throws', () => {
    const valid = new Ajv().compile(answerSchema(DEFAULT_SCHEMA, TAGS).schema);
    const text = (...known: readonly string[]) =>
      fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known) }, fc.string());
    /** Mostly whole. */
    const record = (fields: Record<string, fc.Arbitrary<unknown>>) =>
      fc.oneof({ weight: 9, arbitrary: fc.record(fields) }, fc.record(fields, { requiredKeys: [] }), fc.json());
    const said = record({
      ...{ field: text('budget', 'goal'), holds: fc.boolean(), value: text('20,000', '') },
      ...{ key: text('', 'nuts'), quote: text('', 'We can spend 20,000') },
    });
    const tagged = record({ message: text('question', 'answer'), tag: text(...TAGS) });
    const answers = record({ statements: fc.array(said, { maxLength: 3 }), tags: fc.array(tagged, { maxLength: 3 }) });
    let whole = 0;
    const holds = (answer: unknown) => {
      const { ok } = read(answer);
      if (ok && (answer as { statements: unknown[] }).statements.length > 0) whole += 1;
      return !ok || valid(answer);
    };
    fc.assert(fc.property(answers, holds), { numRuns: 500 });
    expect(whole).toBeGreaterThan(10);
    expect(valid({ statements: [statement], tags: [{ message: 'answer', tag: 'fact' }] })).toBe(true);
  });
});

describe('the form that is asked for', () => {
  it('is closed and whole at every level, without unions: what all providers enforce', () => {
    const look = (schema: Record<string, unknown>): void => {
      if (schema['type'] === 'object') {
        const properties = schema['properties'] as Record<string, Record<string, unknown>>;
        expect(schema).toMatchObject({ additionalProperties: false, required: Object.keys(properties) });
        Object.values(properties).forEach(look);
      } else if (schema['type'] === 'array') look(schema['items'] as Record<string, unknown>);
      else expect(['string', 'boolean']).toContain(schema['type']);
    };
    look(answerSchema(DEFAULT_SCHEMA, TAGS).schema);
  });

  it('goes with words that name the fields and the day, and nothing that was said', () => {
    const asked = extractionInstruction(DEFAULT_SCHEMA, turn.moment, TAGS);
    expect(asked.startsWith(EXTRACT)).toBe(true);
    for (const { name } of DEFAULT_SCHEMA.fields) expect(asked).toContain(`- ${name} (`);
    expect(asked).toContain('2026-11-30 (Asia/Seoul)');
    expect(extractionInstruction(DEFAULT_SCHEMA, turn.moment, TAGS)).toBe(asked);
  });
});
