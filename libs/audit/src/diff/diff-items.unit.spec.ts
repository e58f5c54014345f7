import fc from 'fast-check';
import { diffItems, type ItemDifference } from './diff-items';
import type { ShownItem } from './shown-item';

const item = (type: ShownItem['type'], key: string, text: string, what: ShownItem['what'] = 'window'): ShownItem => ({
  ...{ type, what, key, text, nodeId: null },
});
const user = (key: string, text: string, what?: ShownItem['what']) => item('user', key, text, what);
const told = (differences: readonly ItemDifference[]) =>
  differences.map((each) => [each.change, 'after' in each ? each.after.text : each.before.text]);

describe('the difference of two requests', () => {
  it('pairs what is the same thing, whatever it says, and what says the same, wherever it was said', () => {
    const before = [item('system', 'system', 'old'), user('a', 'hello'), item('tool_result', 'r', 'whole')];
    const after = [item('system', 'system', 'new'), user('elsewhere', 'hello'), item('tool_result', 'r', 'stand-in')];
    expect(told(diffItems(before, after))).toEqual([
      ['changed', 'new'],
      ['same', 'hello'],
      ['changed', 'stand-in'],
    ]);
  });

  it('calls the questions of the two turns one thing that changed, and earlier questions not', () => {
    const before = [user('a', 'first'), user('b', 'asked', 'turn')];
    const after = [user('c', 'other'), user('d', 'edited', 'turn')];
    expect(told(diffItems(before, after))).toEqual([
      ['added', 'other'],
      ['removed', 'first'],
      ['changed', 'edited'],
    ]);
  });

  it('tells of two values of one name the one that stayed as the same', () => {
    const before = [item('state', 'state likes', 'likes: tea'), item('state', 'state likes', 'likes: noodles')];
    const after = [item('state', 'state likes', 'likes: noodles'), item('state', 'state likes', 'likes: rice')];
    expect(told(diffItems(before, after))).toEqual([
      ['same', 'likes: noodles'],
      ['changed', 'likes: rice'],
    ]);
  });

  it('tells what is gone where it stood', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((text) => item('assistant', text, text));
    expect(told(diffItems([a, b, c] as ShownItem[], [a, d, c] as ShownItem[]))).toEqual([
      ['same', 'a'],
      ['added', 'd'],
      ['removed', 'b'],
      ['same', 'c'],
    ]);
  });

  const items = fc.array(
    fc.record({
      type: fc.constantFrom<ShownItem['type']>('user', 'assistant', 'tool_result'),
      what: fc.constantFrom<ShownItem['what']>('window', 'turn'),
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      text: fc.constantFrom('x', 'y', 'z'),
      nodeId: fc.constant(null),
    }),
    { maxLength: 12 },
  );

  it('tells of every item of both exactly once, the later ones in their order, and the other way round the same', () => {
    fc.assert(
      fc.property(items, items, (before, after) => {
        const differences = diffItems(before, after);
        expect(differences.flatMap((each) => ('after' in each ? [each.after] : []))).toEqual(after);
        const earlier = differences.flatMap((each) => ('before' in each ? [each.before] : []));
        expect(new Set(earlier)).toEqual(new Set(before));
        expect(earlier).toHaveLength(before.length);
        for (const each of differences)
          if (each.change === 'same' || each.change === 'changed')
            expect(each.before.text === each.after.text).toBe(each.change === 'same');
        const count = (all: readonly ItemDifference[], change: string) => all.filter((each) => each.change === change).length; // prettier-ignore
        const back = diffItems(after, before);
        expect(count(back, 'added')).toBe(count(differences, 'removed'));
        expect(count(back, 'same')).toBe(count(differences, 'same'));
        expect(diffItems(after, after).every(({ change }) => change === 'same')).toBe(true);
      }),
    );
  });
});
