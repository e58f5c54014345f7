import {
  append,
  aTurn,
  ask,
  cancel,
  conversation,
  edit,
  grownFrom,
  play,
  refusalOf,
  regenerate,
  switchTo,
  typesOf,
} from '../../testing';
import type { ConversationCommand, DraftEvent, StartTurn } from '..';
import { deserialize, serialize } from '../snapshot';
import { decide } from '.';

const attach = (nodeId: string, conversationId = 'c2'): ConversationCommand => ({
  type: 'AttachDependent',
  conversationId,
  nodeId,
});

describe('a conversation that grows from another', () => {
  const one = () => play(grownFrom('s1-1'), [ask('t1'), aTurn.answers('t1-1')]).state;

  it('has a head that is not its own, and its first turn goes on from there', () => {
    const { appends, state } = play(grownFrom('s1-1'), [ask('t1', { parent: 's1-1' }), aTurn.answers('t1-1')]);
    expect(appends[0]?.map(({ data }) => data)).toMatchObject([{ parent: 's1-1' }, { parent: 's1-1' }]);
    expect(appends[1]?.[2]?.data).toEqual({ from: 's1-1', to: 't1-1', reason: 'turn', turnId: 't1' });
    expect(state).toMatchObject({ head: 't1-1' });
  });

  it('B12: takes a parent from no other place of that one, nor from anywhere else', () => {
    for (const parent of ['s0-1', 's2-1', 'x'])
      expect(refusalOf(grownFrom('s1-1'), ask('t1', { parent }))).toEqual({ code: 'unknown_parent', parent });
    expect(refusalOf(one(), ask('t2', { parent: 's1-1' }))).toMatchObject({ code: 'revision_conflict', head: 't1-1' });
    expect(refusalOf(conversation(), ask('t1', { parent: 's1-1' }))).toMatchObject({ code: 'unknown_parent' });
  });

  it('does not edit, regenerate or go back to what is before it', () => {
    expect(refusalOf(one(), edit('s1', 't2'))).toEqual({ code: 'not_found', what: 'turn' });
    expect(refusalOf(one(), regenerate('s1', 't2'))).toEqual({ code: 'not_found', what: 'turn' });
    expect(refusalOf(one(), switchTo('s0-1'))).toEqual({ code: 'not_found', what: 'node' });
  });

  it('edits its own first question beside the old one, and can be switched', () => {
    const { appends, state } = play(one(), [edit('t1', 't2'), aTurn.answers('t2-1'), switchTo('t1-1')]);
    expect(appends[0]?.[1]?.data).toMatchObject({ nodeId: 't2-1', parent: 's1-1' });
    expect(state).toMatchObject({ head: 't1-1' });
    // Of all that grows from there the most recent head.
    expect(play(state, [switchTo('t2-1')]).state).toMatchObject({ head: 't2-1' });
    expect(decide(state, switchTo('s1-1'))).toEqual({ ok: true, events: [], facts: 0 });
  });

  it('keeps its first head where a first turn never made another', () => {
    const { state } = play(grownFrom('s1-1'), [ask('t1'), aTurn.fails('t1-1', 'context_overflow')]);
    expect(state).toMatchObject({ head: 's1-1' });
    expect(play(state, [ask('t2')]).appends[0]?.[0]?.data).toMatchObject({ parent: 's1-1' });
  });

  it('is cleared like any other: nothing leads back to where it grew from', () => {
    const { appends, state } = play(grownFrom('s1-1'), [{ type: 'ClearConversation' }, ask('t1')]);
    expect(appends[0]?.[0]?.data).toEqual({ from: 's1-1', epoch: 1 });
    expect(appends[1]?.[0]?.data).toMatchObject({ parent: null });
    const cleared = play(one(), [{ type: 'ClearConversation' }]).state;
    expect(refusalOf(cleared, switchTo('s1-1'))).toEqual({ code: 'cleared', epoch: 1 });
    expect(refusalOf(cleared, ask('t2', { parent: 's1-1' }))).toMatchObject({ code: 'revision_conflict', head: null });
    expect(state).toMatchObject({ head: null });
  });

  it('goes through a compaction of its own to where it grew from', () => {
    const compacted = append(one(), [
      { type: 'CallRequested', data: { nodeId: 'k', kind: 'compaction', parent: null, origin: 't1-1', carrier: 'w', reason: 'demand' }, content: { instruction: 'i' } },
      { type: 'HeadMoved', data: { from: 't1-1', to: 'k', reason: 'compaction' }, content: null },
    ] satisfies DraftEvent[]); // prettier-ignore
    expect(refusalOf(compacted, edit('t1', 't2'))).toEqual({ code: 'before_compaction', compaction: 'k' });
    expect(decide(compacted, switchTo('s1-1'))).toEqual({ ok: true, events: [], facts: 0 });
  });

  it('can be grown from itself, at its own nodes and at the one before them', () => {
    for (const nodeId of ['t1-1', 's1-1'])
      expect(play(one(), [attach(nodeId)]).state).toMatchObject({ dependents: ['c2'] });
  });

  it('survives a snapshot', () => {
    const state = one();
    expect(deserialize(serialize(state))).toEqual(state);
  });
});

describe('a conversation from which another is about to grow', () => {
  const openCall = () => play(conversation(), [ask('t1'), aTurn.answers('t1-1', [{}]), cancel('t1')]).state;

  it('closes the calls on the way there, so that nothing of it changes any more: a late result is dropped', () => {
    const { appends, state } = play(openCall(), [attach('t1-1'), aTurn.result('t1-1-0')]);
    expect(typesOf(appends[0] ?? [])).toEqual(['ToolExecuted', 'DependentAttached']);
    expect(appends[0]?.[0]?.data).toMatchObject({ toolCallId: 't1-1-0', synthetic: 'interrupted' });
    expect(appends[1]).toEqual([]);
    expect(decide(state, attach('t1-1'))).toEqual({ ok: true, events: [], facts: 0 });
  });

  it('is grown from only where its head once was', () => {
    const running = play(openCall(), [ask('t2'), aTurn.answers('t2-1', [{}])]).state;
    for (const nodeId of ['x', 't2-1'])
      expect(refusalOf(running, attach(nodeId))).toEqual({ code: 'not_found', what: 'node' });
    expect(play(running, [attach('t1-1')]).state).toMatchObject({ running: { turnId: 't2' } });
  });

  it('C06: goes on with its turn', () => {
    const before: StartTurn = ask('t2');
    const { state } = play(openCall(), [before, attach('t1-1'), aTurn.answers('t2-1')]);
    expect(state).toMatchObject({ head: 't2-1', running: null });
  });

  it('is not grown from at what was cleared', () => {
    const { state } = play(openCall(), [{ type: 'ClearConversation' }]);
    expect(refusalOf(state, attach('t1-1'))).toEqual({ code: 'cleared', epoch: 1 });
  });
});
