import { schemaErrors } from '@palimpsest/tools';
import fc from 'fast-check';
import { defaultPlaybookSchema } from './default-schema';
import { type DraftRules, judgeDraft, judgeText, MOST_ERRORS } from './judge-draft';
import { placeholdersIn } from './placeholders';

const rules: DraftRules = {
  tools: ['lookup', 'sql'],
  schemaErrors: (draft) => schemaErrors(defaultPlaybookSchema, draft),
};
const sound = {
  title: 'Largest customers',
  goal: 'The ten largest customers of a month',
  inputs: [{ name: 'month', description: 'The month' }],
  steps: [
    { instruction: 'Ask for the sales of {{month}}', tool: 'sql', arguments: { query: "… '{{ month }}'" } },
    { instruction: 'Write the list' },
  ],
  checks: ['Ten rows'],
};
const errorsOf = (draft: unknown): readonly string[] => {
  const verdict = judgeDraft(draft, rules);
  return verdict.ok ? [] : verdict.errors;
};

describe('a draft', () => {
  it('that fits its schema and the rules is a playbook, also out of a fence', () => {
    expect(judgeDraft(sound, rules)).toEqual({ ok: true, playbook: sound });
    const text = JSON.stringify(sound, null, 2);
    for (const said of [text, `\n${text}\n`, `\`\`\`json\n${text}\n\`\`\``, `\`\`\`\n${text}\`\`\``])
      expect(judgeText(said, rules)).toEqual({ ok: true, playbook: sound });
  });

  it.each([
    ['', /^The answer has no text\. Answer with one JSON object/],
    ['Here it is: {', /^The answer is not JSON \(.+\)\. Answer with one JSON object and nothing else\.$/],
    ['[1]', /^The draft is not a JSON object\.$/],
    ['null', /^The draft is not a JSON object\.$/],
  ])('that is no JSON object is told so: %j', (text, error) => {
    const verdict = judgeText(text, rules);
    expect(verdict).toMatchObject({ ok: false, errors: [expect.stringMatching(error)] });
  });

  it('is held to its schema, and each error says where', () => {
    const { goal: _, ...noGoal } = sound;
    expect(errorsOf(noGoal)).toEqual([`The whole must have required property 'goal'.`]);
    expect(errorsOf({ ...sound, inputs: [{ name: 'two words', description: 'x' }] })[0]).toMatch(
      /^\/inputs\/0\/name must match pattern/,
    );
    expect(errorsOf({ ...sound, mood: 'good' })).toEqual(['The whole must NOT have additional properties: "mood".']);
    expect(errorsOf({ ...sound, steps: [] })).toEqual(['/steps must NOT have fewer than 1 items.']);
    expect(errorsOf({ ...sound, steps: [{ instruction: 'x {{month}}', tool: 'sql' }] })[0]).toMatch(
      /^\/steps\/0 must have property arguments/,
    );
  });

  it('names only tools that the assistant has', () => {
    const steps = [...sound.steps, { instruction: 'x', tool: 'sqll', arguments: {} }];
    expect(errorsOf({ ...sound, steps })).toEqual([
      '/steps/2/tool: the assistant has no tool named "sqll". It has: lookup, sql.',
    ]);
    const none = judgeDraft({ ...sound, steps }, { ...rules, tools: [] });
    expect(none).toMatchObject({ errors: [expect.stringMatching(/It has none\.$/), expect.anything()] });
  });

  it('uses each input that it declares, and declares each that it uses', () => {
    const inputs = [...sound.inputs, { name: 'region', description: 'mentions {{region}} itself' }];
    expect(errorsOf({ ...sound, inputs })).toEqual([
      '/inputs/1: the input "region" is never used. Write {{region}} in a step where it belongs, or leave it out.',
    ]);
    expect(errorsOf({ ...sound, checks: ['At least {{count}} rows'] })).toEqual([
      '/checks/0: {{count}} stands for no input. Declare it in /inputs, or write the value.',
    ]);
    expect(errorsOf({ ...sound, inputs: [...sound.inputs, ...sound.inputs] })).toEqual([
      '/inputs/1: the input "month" is declared twice.',
    ]);
  });

  it('of another schema is asked only what it has', () => {
    const free: DraftRules = { tools: [], schemaErrors: () => [] };
    expect(judgeDraft({ anything: ['{{x}}'] }, free)).toMatchObject({ ok: true });
    expect(judgeDraft({ steps: 'first this, then that', inputs: {} }, free)).toMatchObject({ ok: true });
  });

  it('is told no more than it can mend at once', () => {
    const steps = Array.from({ length: MOST_ERRORS + 7 }, () => ({
      instruction: '{{month}}',
      tool: 'x',
      arguments: {},
    }));
    const errors = errorsOf({ ...sound, steps });
    expect(errors).toHaveLength(MOST_ERRORS + 1);
    expect(errors.at(-1)).toBe('And 7 more.');
  });

  it('is judged whatever it is, and refused with a reason', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        const verdict = judgeText(text, rules);
        expect(verdict.ok || verdict.errors.every((error) => /\.$/.test(error))).toBe(true);
      }),
    );
  });
});

it('placeholders are found in texts and keys, at their first place', () => {
  const document = { a: ['{{x}} and {{ y }}'], '{{k}}': { b: '{{x}}' }, c: 1, 'd/e': '{{z}}', none: '{x} {{' };
  expect([...placeholdersIn(document)]).toEqual([['x', '/a/0'], ['y', '/a/0'], ['k', '/{{k}}'], ['z', '/d~1e']]); // prettier-ignore
});
