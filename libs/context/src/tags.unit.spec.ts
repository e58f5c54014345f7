import type { ItemTag, TagSource } from '@palimpsest/conversation';
import { type OpenedEvent, PathFold } from './path-fold';

const requested = (nodeId: string, parent: string | null, revision: bigint): OpenedEvent => ({
  type: 'CallRequested',
  data: { nodeId, kind: 'turn', parent, turnId: nodeId, round: 1, provider: 'p', model: 'm', length: 1, exact: true },
  content: {},
  revision,
});
const tagged = (nodeId: string, tag: ItemTag, source: TagSource, revision: bigint): OpenedEvent => ({
  ...{ type: 'ItemTagged', data: { nodeId, item: 'sent/0', tag, source }, content: null },
  revision,
});

const nodes = [requested('a', null, 1n), requested('b', 'a', 2n), requested('c', 'a', 3n)];

function tagOn(nodeId: string, events: readonly OpenedEvent[], of = 'a') {
  const fold = new PathFold(() => []);
  for (const event of [...nodes, ...events]) fold.put(event);
  const found = fold.pathTo(nodeId);
  if ('missing' in found) throw new Error(`${found.missing} is missing.`);
  return fold.tagsOn(found.path).get(of)?.get('sent/0')?.tag;
}

describe('tags on a path', () => {
  it('count where their node is on it, and nowhere else', () => {
    const events = [tagged('b', 'fact', 'extraction', 4n)];
    expect(tagOn('b', events, 'b')).toBe('fact');
    expect(tagOn('c', events, 'b')).toBeUndefined();
  });

  it('the latest counts, in whatever order the events are read', () => {
    const events = [tagged('a', 'chit-chat', 'rule', 4n), tagged('a', 'fact', 'extraction', 5n)];
    expect(tagOn('b', events)).toBe('fact');
    expect(tagOn('b', events.reverse())).toBe('fact');
  });

  it('a person’s correction stays, whatever an extraction says later; a later one of a person takes its place', () => {
    const events = [tagged('a', 'decision', 'user', 4n), tagged('a', 'chit-chat', 'extraction', 5n)];
    expect(tagOn('b', events)).toBe('decision');
    expect(tagOn('b', events.reverse())).toBe('decision');
    expect(tagOn('b', [...events, tagged('a', 'discarded', 'user', 6n)])).toBe('discarded');
  });

  it('are seen over events that are not stored yet', () => {
    const fold = new PathFold(() => []);
    for (const event of nodes) fold.put(event);
    fold.put(tagged('a', 'fact', 'rule', 4n));
    const over = fold.over();
    over.put(tagged('a', 'decision', 'rule', 5n));
    const found = over.pathTo('a');
    const tagIn = (one: PathFold) => 'path' in found && one.tagsOn(found.path).get('a')?.get('sent/0')?.tag;
    expect([tagIn(fold), tagIn(over)]).toEqual(['fact', 'decision']);
  });
});
