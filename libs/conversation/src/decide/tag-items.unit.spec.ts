import { ask, aTurn, conversation, grownFrom, play, refusalOf } from '@palimpsest/conversation/testing';
import type { ItemTagging, TagItems } from '@palimpsest/conversation';

const tagging = (nodeId: string, item: ItemTagging['item'] = 'sent/0'): ItemTagging => ({ nodeId, item, tag: 'fact' });
const tag = (...tags: readonly ItemTagging[]): TagItems => ({ type: 'TagItems', tags, source: 'user' });
const asked = () => play(conversation(), [ask('t1'), aTurn.answers('t1-1')]).state;

describe('tags of items', () => {
  it('stand one event each, at the node whose item it is', () => {
    const { appends } = play(asked(), [tag(tagging('t1-1'), tagging('t1-1', 'received/0'))]);
    expect(appends[0]).toEqual([
      { type: 'ItemTagged', data: { nodeId: 't1-1', item: 'sent/0', tag: 'fact', source: 'user' }, content: null },
      { type: 'ItemTagged', data: { nodeId: 't1-1', item: 'received/0', tag: 'fact', source: 'user' }, content: null },
    ]);
  });

  it('are refused for what is not there, and for a node of the conversation that this one grows from', () => {
    expect(refusalOf(asked(), tag(tagging('t1-1'), tagging('t9-1')))).toEqual({ code: 'not_found', what: 'node' });
    expect(refusalOf(grownFrom('s1-1'), tag(tagging('s1-1')))).toEqual({ code: 'not_found', what: 'node' });
  });

  it('C06: break no turn', () => {
    const { state } = play(asked(), [ask('t2'), tag(tagging('t1-1')), aTurn.answers('t2-1')]);
    expect(state).toMatchObject({ head: 't2-1', running: null });
  });

  it('have their effect once under their key, all of them together', () => {
    const key = { name: 'k', digest: 'd' };
    const twice = { ...tag(tagging('t1-1'), tagging('t1-1', 'received/0')), key };
    const { appends } = play(asked(), [twice, twice]);
    expect(appends.map((events) => events.map((event) => event.key))).toEqual([[key, undefined], []]);
    expect(refusalOf(play(asked(), [twice]).state, { ...twice, key: { ...key, digest: 'e' } })).toEqual({
      code: 'idempotency_conflict',
    });
  });
});
