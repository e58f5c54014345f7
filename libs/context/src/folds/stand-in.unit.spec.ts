import fc from 'fast-check';
import { pagesOf } from './pages';
import { handleOf, STAND_IN_HEAD, standIn } from './stand-in';

const turn = '0193f2c4-6d1a-7c3e-9b52-9f3c21ab44de';
const anyText = fc.string({ unit: 'binary', maxLength: 400 }).map((text) => `${text}\ud800`);

describe('what stands in for a result', () => {
  it('names the tool, the size, the handle and how to read on, in one line, and then the beginning', () => {
    const text = `${'한 줄\n'.repeat(100)}${'x'.repeat(5000)}`;
    const [line, ...head] = standIn('search', handleOf(`${turn}-2-0`), text).split('\n');
    expect(line).toBe(
      '[search: 5800 bytes, 5400 characters, of which only the beginning follows; ' +
        'read_result {"id":"9f3c21ab44de-2-0","page":1} reads it all, page by page. id=9f3c21ab44de-2-0]',
    );
    expect(text.startsWith(head.join('\n'))).toBe(true);
    expect(head.join('\n')).toHaveLength(STAND_IN_HEAD);
  });

  it('ends its beginning behind a line where one ends near, and never within a pair', () => {
    const headOf = (text: string) => standIn('t', 'h', text).split('\n').slice(1).join('\n');
    expect(headOf('y'.repeat(900) + '\n' + 'z'.repeat(900))).toBe('y'.repeat(900) + '\n');
    expect(headOf('y'.repeat(100) + '\n' + 'z'.repeat(1900))).toHaveLength(STAND_IN_HEAD);
    expect(headOf('y'.repeat(STAND_IN_HEAD - 1) + '😀'.repeat(99))).toBe('y'.repeat(STAND_IN_HEAD - 1));
  });

  it('of a page is the line that says which page of what it was', () => {
    const page = `[read_result: page 3 of 41. Next: 4. id=9f3c21ab44de-2-0]\n${'x'.repeat(5000)}`;
    expect(standIn('read_result', 'other', page)).toBe(
      '[read_result: page 3 of 41. Next: 4. id=9f3c21ab44de-2-0]\n[This page was left out again, to make room.]',
    );
  });

  it('has another handle for every call of a path', () => {
    const other = '0193f2c4-6d1a-7c3e-9b52-000000000001';
    const calls = [`${turn}-1-0`, `${turn}-1-1`, `${turn}-11-0`, `${other}-1-0`];
    expect(new Set(calls.map(handleOf)).size).toBe(calls.length);
  });
});

describe('pages', () => {
  it('are the whole text, one after another, each no larger than a page may be', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 60 }), (text, tokens) => {
        const starts = pagesOf(text, tokens);
        const pages = starts.slice(1).map((end, at) => text.slice(starts[at], end));
        expect(pages.join('')).toBe(text);
        for (const page of pages) {
          expect(page.length).toBeGreaterThan(0);
          expect(page.length).toBeLessThanOrEqual(Math.max(2, tokens * 4));
        }
      }),
    );
  });

  it('never part the halves of a pair', () => {
    const text = '😀'.repeat(1000);
    for (const start of pagesOf(text, 7)) expect(start % 2).toBe(0);
  });

  it('of an empty text are one', () => {
    expect(pagesOf('', 10)).toEqual([0, 0]);
  });
});
