import { laws, obey, type RequestUnderLaw } from './laws';

const block = 'today: 2026-11-30 (UTC)\nbudget: 20,000 [latest confirmed]  (~~10,000~~ [superseded])';

function bodyOf(state: string): Buffer {
  const call = { id: 'call_0', type: 'function', function: { name: 'tool', arguments: '{"query":"C<n1-0>"}' } };
  const messages = [
    { role: 'user', content: 'Q<t1>' },
    { role: 'assistant', content: 'A<n1>', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_0', content: 'R<n1-0>' },
    { role: 'user', content: `<state>\n${state}\n</state>\n\nQ<t2>` },
  ];
  return Buffer.from(JSON.stringify({ messages }));
}

function sound(bytes = bodyOf(block)): RequestUnderLaw {
  return {
    ...{ nodeId: 'n2', bytes, replay: { bytes, verified: true, parts: [{ nodeId: null }, { nodeId: 'n1' }] } },
    expected: [{ marks: new Set(['Q<t1>', 'A<n1>', 'C<n1-0>', 'R<n1-0>', 'Q<t2>']), folded: new Set() }],
    ...{ lineage: new Set(['n1', 'n2']), block, said: new Set(['10,000', '20,000']) },
  };
}

/** Other bytes, which were recorded as they are. */
const saying = (from: string, to: string): RequestUnderLaw =>
  sound(Buffer.from(sound().bytes.toString().replace(from, to)));
/** Another block, which its branch is to have. */
const told = (to: string): RequestUnderLaw => ({ ...sound(bodyOf(to)), block: to });
const [today = ''] = block.split('\n');

/** A fault, and the invariants that it breaks. */
const faults: readonly (readonly [what: string, request: RequestUnderLaw, broken: readonly number[]])[] = [
  ['a call without its result', saying('"call_0","content"', '"call_1","content"'), [3]],
  ['a replay of other bytes', { ...sound(), replay: { ...sound().replay, bytes: Buffer.from('{}') } }, [5]],
  ['a replay of another digest', { ...sound(), replay: { ...sound().replay, verified: false } }, [5]],
  ['an answer of another branch', saying('A<n1>', 'A<n1> A<x1>'), [6]],
  ['a summary in place of what it does not cover', saying('A<n1>', 'A<s1>'), [6]],
  ['a question that is missing', saying('Q<t1>', ''), [6]],
  ['bytes of a node of another branch', { ...sound(), lineage: new Set(['n2']) }, [6]],
  ['two state blocks', saying('Q<t1>', '<state>\\nbudget: 20,000 [latest confirmed]\\n</state>\\n\\nQ<t1>'), [7]],
  ['no state block', saying('<state>', ''), [7]],
  ['the block of another moment', saying('20,000 [latest', '10,000 [latest'), [7]],
  ['two lines of one field', told(`${block}\nbudget: 10,000 [latest confirmed]`), [7]],
  ['two valid values of one field', told(block.replace('  (~~', '; 10,000 [latest confirmed]  (~~')), [7]],
  ['a field without a valid value', told(`${today}\nbudget:   (~~10,000~~ [superseded])`), [7]],
  ['a valid value of another branch', { ...sound(), said: new Set(['10,000']) }, [7]],
  ['a superseded value of another branch', { ...sound(), said: new Set(['20,000']) }, [7]],
];

const brokenBy = (request: RequestUnderLaw): readonly number[] =>
  Object.entries(laws).flatMap(([name, law]) => (law(request).length > 0 ? [Number(/\d+/.exec(name)?.[0])] : []));

describe('a law of requests', () => {
  it('is kept by a sound one, also where it stands folded or has one of several forms', () => {
    const folded = { marks: new Set(['Q<t1>', 'A<n1>', 'C<n1-0>', 'Q<t2>']), folded: new Set(['R<n1-0>']) };
    const another = { marks: new Set<string>(), folded: new Set<string>() };
    for (const request of [sound(), { ...sound(), expected: [another, folded] }]) {
      expect(brokenBy(request)).toEqual([]);
      expect(() => obey(request)).not.toThrow();
    }
  });

  it.each(faults)('is broken by %s, and by its name', (_, request, broken) => {
    expect(brokenBy(request)).toEqual(broken);
    expect(() => obey(request)).toThrow(`Invariant ${broken[0]}`);
  });
});
