import {
  append,
  aTurn,
  ask,
  cancel,
  conversation,
  decideOn,
  edit,
  play,
  refusalOf,
  regenerate,
  switchTo,
  typesOf,
} from '../../testing';
import type { ConversationCommand } from '../commands';
import { deserialize, serialize } from '../snapshot';
import { absent, type ConversationState } from '../state';
import { decide } from '.';

const clear = (key?: string): ConversationCommand => ({
  type: 'ClearConversation',
  ...(key !== undefined && { key: { name: key, digest: 'd' } }),
});
const attach = (conversationId: string, nodeId = 't1-1'): ConversationCommand => ({
  type: 'AttachDependent',
  conversationId,
  nodeId,
});
const remove = (...deletedDependents: string[]): ConversationCommand => ({
  type: 'DeleteConversation',
  keyId: 'conversation-c1',
  deletedDependents,
});
const alreadySo = { ok: true, events: [], facts: 0 };

/** t1 and t2 in a row. */
const two = () => play(conversation(), [ask('t1'), aTurn.answers('t1-1'), ask('t2'), aTurn.answers('t2-1')]).state;

/** Every way in which a turn can be unfinished. */
const busy: readonly (readonly [string, () => ConversationState, string])[] = [
  ['runs', () => play(conversation(), [ask('t1')]).state, 'running'],
  ['waits', () => play(conversation(), [ask('t1'), aTurn.answers('t1-1', [{ approval: true }])]).state, 'waiting'],
  ['is queued', () => play(conversation('queue'), [ask('t1'), ask('t2'), aTurn.answers('t1-1')]).state, 'queued'],
];

describe('a clear', () => {
  it('takes transcript and head in one event, and the next question starts at the root', () => {
    const { appends, state } = play(two(), [clear(), ask('t3')]);
    expect(appends[0]).toEqual([{ type: 'ConversationCleared', data: { from: 't2-1', epoch: 1 }, content: null }]);
    expect(appends[1]?.[0]?.data).toMatchObject({ kind: 'ask', parent: null });
    expect(appends[1]?.[1]?.data).toMatchObject({ nodeId: 't3-1', parent: null });
    expect(play(state, [aTurn.answers('t3-1')]).appends[0]?.[2]?.data).toMatchObject({ from: null, to: 't3-1' });
  });

  it('leaves nothing to go back to: no switch, no edit, no regeneration', () => {
    const { state } = play(two(), [clear(), ask('t3'), aTurn.answers('t3-1')]);
    const cleared = { code: 'cleared', epoch: 1 };
    expect(refusalOf(state, switchTo('t2-1'))).toEqual(cleared);
    expect(refusalOf(state, edit('t1', 't4'))).toEqual(cleared);
    expect(refusalOf(state, regenerate('t2', 't4'))).toEqual(cleared);
    expect(refusalOf(state, ask('t4', { parent: 't2-1' }))).toMatchObject({ code: 'revision_conflict', head: 't3-1' });
    expect(play(state, [edit('t3', 't4'), aTurn.answers('t4-1'), switchTo('t3-1')]).state).toMatchObject({
      head: 't3-1',
    });
  });

  it('of what is clear already is already so; without a head there may be nodes all the same', () => {
    expect(decide(conversation(), clear())).toEqual(alreadySo);
    expect(decide(play(two(), [clear()]).state, clear())).toEqual(alreadySo);
    const failed = play(conversation(), [ask('t1'), aTurn.fails('t1-1', 'context_overflow')]).state;
    expect(failed).toMatchObject({ head: null });
    expect(play(failed, [clear()]).state).toMatchObject({ epoch: 1 });
  });

  it.each(busy)('is refused while a turn %s, and so is a delete', (_how, state, status) => {
    expect(refusalOf(state(), clear())).toMatchObject({ code: 'turn_running', status });
    expect(refusalOf(state(), remove())).toMatchObject({ code: 'turn_running', status });
  });

  it('has its effect once under one key, also where more was asked since', () => {
    const { state } = play(two(), [clear('k'), ask('t3'), aTurn.answers('t3-1')]);
    expect(decide(state, clear('k'))).toEqual({ ...alreadySo, known: { revision: 11n } });
    expect(state).toMatchObject({ head: 't3-1', epoch: 1 });
  });

  it('a result that comes late to a turn from before it is recorded, and the next turn does not wait for it', () => {
    const { state } = play(two(), [ask('t3'), aTurn.answers('t3-1', [{ effect: 'write' }]), cancel('t3'), clear()]);
    const { appends } = play(state, [ask('t4'), aTurn.result('t3-1-0')]);
    expect(appends.map(typesOf)).toEqual([['TurnStarted', 'CallRequested'], ['ToolExecuted']]);
  });

  it('stands in a snapshot', () => {
    const { state } = play(two(), [attach('c2'), clear()]);
    const restored = deserialize(JSON.parse(JSON.stringify(serialize(state)))) ?? absent;
    expect(serialize(restored)).toEqual(serialize(state));
    expect(refusalOf(restored, switchTo('t1-1'))).toMatchObject({ code: 'cleared' });
    const deleted = play(state, [remove('c2')]).state;
    expect(deserialize(serialize(deleted))).toEqual(deleted);
  });
});

describe('a delete', () => {
  it('ends the stream and the key in one append, and is already so the second time', () => {
    const { appends, state } = play(two(), [remove()]);
    expect(appends[0]).toEqual([
      { type: 'ConversationDeleted', data: {}, content: null },
      { type: 'KeyDestroyed', data: { keyId: 'conversation-c1' }, content: null },
    ]);
    expect(state).toEqual({ status: 'deleted', revision: 12 });
    expect(decide(state, remove())).toEqual(alreadySo);
  });

  it('leaves no command that has an effect', () => {
    const { state } = play(two(), [remove()]);
    const started = { assistantId: 'a', assistantVersion: 1, subjectId: 's', zone: 'UTC', whenBusy: 'refuse' } as const;
    const later = [
      { type: 'StartConversation', ...started } as const,
      ask('t3'),
      edit('t1', 't3'),
      switchTo('t1-1'),
      cancel('t1'),
      clear(),
      attach('c2'),
      decideOn('t1-1-0', 'approve'),
      aTurn.answers('t2-1'),
      aTurn.result('t1-1-0'),
    ];
    for (const command of later) expect(refusalOf(state, command)).toEqual({ code: 'deleted' });
    expect(() => append(state, [{ type: 'TurnCompleted', data: { turnId: 't2' }, content: null }])).toThrow(
      'TurnCompleted stands behind ConversationDeleted.',
    );
  });

  it('is refused while others grow from it, with those that are not deleted yet', () => {
    const { state } = play(two(), [attach('c2'), attach('c3'), attach('c4')]);
    expect(decide(state, attach('c3'))).toEqual(alreadySo);
    expect(refusalOf(state, remove('c3'))).toEqual({ code: 'has_dependents', conversationIds: ['c2', 'c4'] });
    expect(play(state, [remove('c4', 'c3', 'c2')]).state).toMatchObject({ status: 'deleted' });
  });

  it('of an id without a conversation stops whoever would have begun it', () => {
    const { appends, state } = play(absent, [remove()]);
    expect(appends.map(typesOf)).toEqual([['ConversationDeleted', 'KeyDestroyed']]);
    const started = { assistantId: 'a', assistantVersion: 1, subjectId: 's', zone: 'UTC', whenBusy: 'refuse' } as const;
    expect(refusalOf(state, { type: 'StartConversation', ...started })).toEqual({ code: 'deleted' });
  });
});
