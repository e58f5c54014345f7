import { directivesIn, withoutDirectives } from './directives';

function read(text: string): object[] {
  return directivesIn(text).map(({ verb, rest, options }) => ({ verb, rest, ...Object.fromEntries(options) }));
}

describe('directives in a question', () => {
  it.each([
    ['[[sim: say  two words ]]', [{ verb: 'say', rest: ' two words ' }]],
    ['[[sim: call sql {"a":[[1],"]]}{"]}]]', [{ verb: 'call', rest: 'sql {"a":[[1],"]]}{"]}' }]],
    ['[[sim: call sql {"broken]] and more', [{ verb: 'call', rest: 'sql {"broken' }]],
    [
      '[[sim: rounds=5 tool=sql args={"a": 1}]]',
      [{ verb: 'rounds', rest: '=5 tool=sql args={"a": 1}', rounds: '5', tool: 'sql', args: '{"a": 1}' }],
    ],
    ['[[sim: fail overloaded times=2]]', [{ verb: 'fail', rest: 'overloaded times=2', times: '2' }]],
    [
      'a [[sim: think]] b [[sim: slow ms=3]] c',
      [
        { verb: 'think', rest: '' },
        { verb: 'slow', rest: 'ms=3', ms: '3' },
      ],
    ],
    ['[[sim: never ends', []],
    ['[[sim', []],
  ])('%s', (text, expected) => {
    expect(read(text)).toEqual(expected);
  });

  it('leave the rest of the question', () => {
    expect(withoutDirectives('Hi [[sim: say x]]there [[sim: slow ms=1]]')).toBe('Hi there');
  });
});
