import fc from 'fast-check';
import { isDue } from './due';
import { judgeSummary } from './judge-summary';
import { cutIntoRuns } from './runs';

const turns = fc
  .array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 30 })
  .map((sizes) => sizes.map((tokens, at) => ({ lastNode: `n${at}`, tokens })));

describe('a path that is cut into runs', () => {
  it('every run of more than one turn fits, and no turn is left out or split', () => {
    const holds = (path: { fixed: number; turns: typeof turns extends fc.Arbitrary<infer T> ? T : never }) => {
      const limits = { room: 500, summary: 50 };
      const cuts = cutIntoRuns(path, limits);
      const ends = [...cuts, path.turns.at(-1)?.lastNode];
      let from = 0;
      ends.forEach((end, run) => {
        const to = path.turns.findIndex(({ lastNode }) => lastNode === end) + 1;
        expect(to).toBeGreaterThan(from);
        const sum = path.turns.slice(from, to).reduce((all, { tokens }) => all + tokens, 0);
        if (to - from > 1) expect(path.fixed + (run > 0 ? limits.summary : 0) + sum).toBeLessThanOrEqual(limits.room);
        from = to;
      });
      expect(from).toBe(path.turns.length);
    };
    fc.assert(fc.property(fc.record({ fixed: fc.nat(100), turns }), holds), { numRuns: 200 });
  });

  it('that fits is not cut', () => {
    const path = { fixed: 10, turns: [{ lastNode: 'a', tokens: 100 }, { lastNode: 'b', tokens: 100 }] }; // prettier-ignore
    expect(cutIntoRuns(path, { room: 210, summary: 50 })).toEqual([]);
    expect(cutIntoRuns(path, { room: 209, summary: 50 })).toEqual(['a']);
  });
});

describe('the threshold', () => {
  const path = (fixed: number, tokens: number) => ({ fixed, turns: [{ lastNode: 'a', tokens }] });
  const at = { at: 0.7, cap: 1000, more: 0 };

  it('is passed by what was said, with the question that is to come', () => {
    expect(isDue(path(100, 599), at)).toBe(false);
    expect(isDue(path(100, 600), at)).toBe(true);
    expect(isDue(path(100, 500), { ...at, more: 100 })).toBe(true);
  });

  it('is no reason where no summary could help', () => {
    expect(isDue(path(700, 100), at)).toBe(false);
    expect(isDue({ fixed: 100, turns: [] }, { ...at, more: 600 })).toBe(false);
  });
});

describe('a summary', () => {
  const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
  const said = (text: string, stop = 'end_turn') => {
    const response = { format: 'anthropic.messages', stop_reason: stop, content: [{ type: 'text', text }] };
    const source = { revision: 0, pointer: '/response/content/0/text' };
    const items = text === '' ? [] : [{ type: 'assistant' as const, text: { text, source } }];
    return judgeSummary({ response, usage, stopReason: stop }, items).status;
  };

  it.each([
    'The person wants an error budget of 0.1 %.',
    'Errors in the March figures were found: 12 rows.',
    '500 units were ordered.',
    '예산은 20,000이다.',
  ])('that speaks of %j is one', (text) => expect(said(text)).toBe('succeeded'));

  it.each([
    'Error: timed out',
    'Internal Server Error',
    'API Error 529',
    '{"error": {"message": "busy"}}',
    '<html><body>502</body></html>',
    '502 Bad Gateway',
    'HTTP 503 Service Unavailable',
    'upstream connect error or disconnect/reset before headers',
    ' \n',
  ])('K10: %j is none', (text) => expect(said(text)).toBe('failed'));

  it.each(['max_tokens', 'refusal', 'tool_use', 'pause_turn'])('K10: that ended with %s is none', (stop) =>
    expect(said('The person wants blue.', stop)).toBe('failed'),
  );
});
