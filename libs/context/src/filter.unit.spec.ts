import type { ItemPlace, ItemTag } from '@palimpsest/conversation';
import fc from 'fast-check';
import { leftOutOf as leftOutBy, without } from './filter';
import type { PathNode, ReceivedItem } from './items';
import type { TagsOnPath } from './path-fold';

const sourced = (text: string) => ({ text, source: { revision: 1, pointer: '/text' } });
const said = (text: string): ReceivedItem => ({ type: 'assistant', text: sourced(text) });
const call = (toolCallId: string): ReceivedItem => ({
  ...{ type: 'tool_call', toolCallId, providerCallId: toolCallId, name: 'look' },
  arguments: sourced('{}'),
});
const answer = (...items: ReceivedItem[]) => ({ response: {}, place: { revision: 1 }, items });
const node = (nodeId: string, question: string | null, ...items: ReceivedItem[]): PathNode => ({
  ...{
    nodeId,
    provider: 'openai',
    status: 'succeeded',
    results: [],
    question: question === null ? null : sourced(question),
  },
  received: items.length ? answer(...items) : null,
});
const withResult = (nodeId: string, toolCallId: string, ...items: ReceivedItem[]): PathNode => ({
  ...node(nodeId, null, ...items),
  results: [{ toolCallId, result: sourced('found'), isError: false }],
});
const tags = (...told: readonly (readonly [nodeId: string, item: ItemPlace, tag: ItemTag])[]): TagsOnPath => {
  const byNode = new Map<string, Map<ItemPlace, { tag: ItemTag; source: 'rule'; revision: number }>>();
  for (const [nodeId, item, tag] of told)
    byNode.set(nodeId, new Map([...(byNode.get(nodeId) ?? []), [item, { tag, source: 'rule', revision: 1 }]]));
  return byNode;
};

const asking: PathNode = { ...node('summary', 'Summarise'), status: 'pending' };
const leftOutOf = (nodes: readonly PathNode[], told: TagsOnPath) => leftOutBy([...nodes, asking], told);

const path = [
  node('a', 'my budget is 100', said('noted')),
  node('b', 'nice weather', said('indeed')),
  node('c', 'look it up', call('c-0')),
  withResult('d', 'c-0', said('found it'), said('anything else?')),
];

describe('what a summary leaves out', () => {
  it('are items that were discarded, chit-chat and repeated confirmations, and no others', () => {
    const told = tags(
      ['a', 'sent/0', 'constraint'],
      ['b', 'sent/0', 'chit-chat'],
      ['b', 'received/0', 'discarded'],
      ['d', 'received/1', 'repeated confirmation'],
      ['d', 'received/9', 'discarded'],
    );
    const left = leftOutOf(path, told);
    expect(left).toEqual([
      { nodeId: 'b', item: 'sent/0', tag: 'chit-chat' },
      { nodeId: 'b', item: 'received/0', tag: 'discarded' },
      { nodeId: 'd', item: 'received/1', tag: 'repeated confirmation' },
    ]);
    const shown = without(path, left);
    expect(shown[0]).toBe(path[0]);
    expect(shown[1]).toMatchObject({ question: null, received: null });
    expect(shown[3]).toMatchObject({ provider: '', received: { items: [said('found it')] } });
  });

  it.each<['call' | 'result', string, ItemPlace]>([
    ['call', 'c', 'received/0'],
    ['result', 'd', 'sent/0'],
  ])('is a call together with its result, where the %s is tagged', (_which, nodeId, item) => {
    expect(leftOutOf(path, tags([nodeId, item, 'discarded']))).toEqual([
      { nodeId: 'c', item: 'received/0', tag: 'discarded' },
      { nodeId: 'd', item: 'sent/0', tag: 'discarded' },
    ]);
  });

  it('is a result that the request itself sends, where its call goes: the path ends with the call', () => {
    const sends: PathNode = { ...withResult('summary', 'c-0'), question: sourced('Summarise'), status: 'pending' };
    const left = leftOutBy([...path.slice(0, 3), sends], tags(['c', 'received/0', 'discarded']));
    expect(left).toEqual([
      { nodeId: 'c', item: 'received/0', tag: 'discarded' },
      { nodeId: 'summary', item: 'sent/0', tag: 'discarded' },
    ]);
    expect(without([sends], left)).toMatchObject([{ results: [], question: sourced('Summarise') }]);
  });

  it('is no first question whose answer stays: a request begins with somebody’s message', () => {
    expect(leftOutOf(path, tags(['a', 'sent/0', 'chit-chat']))).toEqual([]);
    const both = tags(['a', 'sent/0', 'chit-chat'], ['a', 'received/0', 'chit-chat'], ['b', 'sent/0', 'chit-chat']);
    expect(leftOutOf(path, both).map(({ nodeId }) => nodeId)).toEqual(['a', 'a']);
    const behind = [{ ...node('s', null), summary: [sourced('before')] }, ...path];
    expect(leftOutOf(behind, tags(['a', 'sent/0', 'chit-chat']))).toHaveLength(1);
    // Of the last turn only what it said after its call's result stays: its question does too.
    const most = (['a', 'b', 'c'] as const).flatMap((id) => [[id, 'sent/0', 'chit-chat'], [id, 'received/0', 'chit-chat']] as const); // prettier-ignore
    const shown = without(path, leftOutOf(path, tags(...most)));
    expect(shown.map(({ question }) => question !== null)).toEqual([false, false, true, false]);
  });

  it('is nothing where nothing would be left', () => {
    const all = tags(['a', 'sent/0', 'chit-chat'], ['a', 'received/0', 'chit-chat']);
    expect(leftOutOf(path.slice(0, 1), all)).toEqual([]);
    const behind = [{ ...node('s', null), summary: [sourced('before')] }, ...path.slice(0, 1)];
    expect(leftOutOf(behind, all)).toEqual([]);
  });

  it('whatever is tagged, every call keeps its result and the first message is no answer', () => {
    const place = fc.constantFrom<ItemPlace>('sent/0', 'received/0', 'received/1');
    const tag = fc.constantFrom<ItemTag>('chit-chat', 'discarded', 'fact');
    const told = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), place, tag));
    const holds = (some: readonly (readonly [string, ItemPlace, ItemTag])[]) => {
      const shown = without(path, leftOutOf(path, tags(...some)));
      const calls = shown.flatMap(({ received }) => received?.items.filter(({ type }) => type === 'tool_call') ?? []);
      expect(shown.flatMap(({ results }) => results)).toHaveLength(calls.length);
      const first = shown.find(({ question, results, received }) => question ?? results[0] ?? received);
      expect(first?.question ?? first?.results[0]).toBeTruthy();
    };
    fc.assert(fc.property(told, holds), { numRuns: 200 });
  });
});
