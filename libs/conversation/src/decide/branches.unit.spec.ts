import {
  append,
  aTurn,
  ask,
  cancel,
  conversation,
  edit,
  play,
  refusalOf,
  regenerate,
  switchTo,
  typesOf,
} from '../../testing';
import type { DraftEvent } from '../events';
import { decide } from '.';

/** t1, t2, t3 in a row. */
const three = () =>
  play(
    conversation(),
    ['t1', 't2', 't3'].flatMap((turn) => [ask(turn), aTurn.answers(`${turn}-1`)]),
  ).state;

describe('an edit', () => {
  it('B04: starts where the edited turn began, and the old branch can be resumed', () => {
    const { appends, state } = play(three(), [edit('t2', 't4'), aTurn.answers('t4-1')]);
    expect(appends[0]?.[0]?.data).toMatchObject({ kind: 'edit', of: 't2', parent: 't1-1' });
    expect(appends[0]?.[1]?.data).toMatchObject({ nodeId: 't4-1', parent: 't1-1' });
    expect(appends[1]?.[2]?.data).toEqual({ from: 't3-1', to: 't4-1', reason: 'edit', turnId: 't4' });
    expect(play(state, [switchTo('t3-1')]).state).toMatchObject({ head: 't3-1' });
  });

  it('of the first question has no parent', () => {
    expect(play(three(), [edit('t1', 't4')]).state).toMatchObject({ running: { parent: null } });
  });

  it('that fails moves the head for that reason; a regeneration has its own', () => {
    const failed = play(three(), [edit('t2', 't4'), aTurn.fails('t4-1', 'timeout')]);
    expect(failed.appends[1]?.[2]?.data).toMatchObject({ to: 't4-1', reason: 'failure' });
    const again = play(three(), [regenerate('t3', 't4'), aTurn.answers('t4-1')]);
    expect(again.appends[1]?.[2]?.data).toMatchObject({ to: 't4-1', reason: 'regenerate' });
  });

  it('is refused while a turn runs, even where turns queue', () => {
    const { state } = play(conversation('queue'), [ask('t1'), aTurn.answers('t1-1'), ask('t2')]);
    expect(refusalOf(state, edit('t1', 't3'))).toEqual({ code: 'turn_running', turnId: 't2', status: 'running' });
    expect(refusalOf(state, switchTo('t1-1'))).toMatchObject({ code: 'turn_running' });
  });

  it('B12: of a turn that is not here, or that never started, is not found', () => {
    expect(refusalOf(three(), edit('t9', 't4'))).toEqual({ code: 'not_found', what: 'turn' });
    const { state } = play(conversation('queue'), [ask('t1'), ask('t2'), cancel('t2'), aTurn.answers('t1-1')]);
    expect(refusalOf(state, edit('t2', 't4'))).toEqual({ code: 'not_found', what: 'turn' });
  });

  it('closes calls on its own path and leaves those of the branch that it leaves', () => {
    const { state } = play(three(), [ask('t4'), aTurn.answers('t4-1', [{}]), cancel('t4')]);
    const { appends, state: edited } = play(state, [edit('t2', 't5'), aTurn.answers('t5-1')]);
    expect(typesOf(appends[0] ?? [])).toEqual(['TurnStarted', 'CallRequested']);
    const back = play(edited, [switchTo('t4-1'), ask('t6')]);
    expect(typesOf(back.appends[1] ?? [])).toEqual(['ToolExecuted', 'TurnStarted', 'CallRequested']);
  });

  it('B07: five failed regenerations in a row leave the head on a node that exists', () => {
    let { state } = play(conversation(), [ask('t1'), aTurn.answers('t1-1')]);
    for (const turn of ['r1', 'r2', 'r3', 'r4', 'r5'])
      ({ state } = play(state, [regenerate('t1', turn), aTurn.fails(`${turn}-1`, 'overloaded')]));
    expect(state).toMatchObject({ head: 'r5-1' });
    expect(decide(state, ask('t2'))).toMatchObject({ ok: true });
  });
});

describe('a compaction', () => {
  const compacted = () =>
    append(three(), [
      { type: 'CallRequested', data: { nodeId: 'k', kind: 'compaction', parent: null, origin: 't3-1', carrier: 'w', reason: 'demand' }, content: { instruction: 'i' } },
      { type: 'HeadMoved', data: { from: 't3-1', to: 'k', reason: 'compaction' }, content: null },
    ] satisfies DraftEvent[]); // prettier-ignore

  it('a question before it cannot be edited; one after it, or on another branch, can', () => {
    expect(refusalOf(compacted(), edit('t2', 't5'))).toEqual({ code: 'before_compaction', compaction: 'k' });
    const { state } = play(compacted(), [ask('t4'), aTurn.answers('t4-1')]);
    expect(decide(state, edit('t4', 't5'))).toMatchObject({ ok: true });
  });

  it('a client that saw its origin as the head goes on; one that saw an older node does not', () => {
    expect(decide(compacted(), ask('t4', { parent: 't3-1' }))).toMatchObject({ ok: true });
    expect(refusalOf(compacted(), ask('t4', { parent: 't2-1' }))).toMatchObject({
      code: 'revision_conflict',
      head: 'k',
    });
  });

  it('its origin is an edge: a switch to a node before it leads to what came after', () => {
    const { state } = play(compacted(), [ask('t4'), aTurn.answers('t4-1'), edit('t4', 't5'), aTurn.answers('t5-1')]);
    expect(decide(state, switchTo('t1-1'))).toEqual({ ok: true, events: [], facts: 0 });
    expect(play(state, [switchTo('t4-1')]).state).toMatchObject({ head: 't4-1' });
  });
});

describe('a switch', () => {
  it('leads to the descendant that was the head most recently', () => {
    const { state } = play(three(), [edit('t3', 't4'), aTurn.answers('t4-1'), edit('t1', 't5'), aTurn.answers('t5-1')]);
    expect(play(state, [switchTo('t2-1')]).state).toMatchObject({ head: 't4-1' });
    expect(play(state, [switchTo('t3-1'), switchTo('t5-1'), switchTo('t1-1')]).state).toMatchObject({ head: 't3-1' });
  });

  it('to the branch where the head is, is already so', () => {
    expect(decide(three(), switchTo('t1-1'))).toEqual({ ok: true, events: [], facts: 0 });
  });

  it('is refused to unknown nodes, to nodes beside the path, and to branches that never were the head', () => {
    expect(refusalOf(three(), switchTo('x'))).toEqual({ code: 'not_found', what: 'node' });
    const data = { nodeId: 'x', parent: 't3-1', kind: 'extraction', carrier: 'w' } as const;
    const beside = append(three(), [{ type: 'CallRequested', data, content: { instruction: 'i' } }]);
    expect(refusalOf(beside, switchTo('x'))).toEqual({ code: 'not_switchable', kind: 'extraction' });
    const { state } = play(three(), [edit('t1', 't4'), aTurn.fails('t4-1', 'context_overflow')]);
    expect(refusalOf(state, switchTo('t4-1'))).toEqual({ code: 'not_switchable', kind: 'turn' });
  });
});
