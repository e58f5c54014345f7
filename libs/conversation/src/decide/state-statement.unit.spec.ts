import {
  append,
  ask,
  aTurn,
  conversation,
  grownFrom,
  play,
  refusalOf,
  switchTo,
  typesOf,
} from '@palimpsest/conversation/testing';
import type { AssertState, ConversationState, RetractState } from '@palimpsest/conversation';

const counts = {
  field: 'budget',
  by: 'client',
  cardinality: 'one',
  confirm: 'stated',
  digests: { value: 'd' },
} as const;

const assert = (more: Partial<AssertState> = {}): AssertState => ({
  type: 'AssertState',
  statement: counts,
  content: { value: 20_000 },
  ...more,
});
const at = (nodeId: string) => assert({ statement: { ...counts, nodeId } });

const anchorIn = (state: ConversationState, command: AssertState | RetractState = assert()) => {
  const [event] = play(state, [command]).appends[0] ?? [];
  if (event?.type !== 'StateAsserted' && event?.type !== 'StateRetracted') throw new Error('Nothing was stated.');
  return event.data.nodeId;
};

const ended = (turnId: string) => [ask(turnId), aTurn.answers(`${turnId}-1`)];

describe('a statement about the state', () => {
  it('is anchored to the root where nothing was said yet, and to the head where nothing runs', () => {
    expect(anchorIn(conversation())).toBeNull();
    const { state } = play(conversation(), [...ended('t1'), ...ended('t2')]);
    expect(anchorIn(state)).toBe('t2-1');
    expect(anchorIn(play(state, [switchTo('t1-1')]).state)).toBe('t2-1');
  });

  it('is anchored to the last node of the turn that runs, before its first request to what the turn grows from', () => {
    const { state } = play(conversation(), [...ended('t1'), ask('t2')]);
    expect(anchorIn(state)).toBe('t2-1');
    const { appends, state: before } = play(conversation(), ended('t1'));
    expect(appends).toHaveLength(2);
    const [start] = play(before, [ask('t2')]).appends[0] ?? [];
    if (start?.type !== 'TurnStarted') throw new Error('The turn does not begin with its start.');
    expect(anchorIn(append(before, [start]))).toBe('t1-1');
  });

  it('stands at the node that it names, also where another conversation has it, and nowhere that is not there', () => {
    const { state } = play(conversation(), [...ended('t1'), ...ended('t2')]);
    expect(anchorIn(state, at('t1-1'))).toBe('t1-1');
    expect(refusalOf(state, at('t9-1'))).toEqual({ code: 'not_found', what: 'node' });
    expect(anchorIn(grownFrom('s1-1'))).toBe('s1-1');
  });

  it('C06: breaks no turn, whatever is said while it runs', () => {
    const { state } = play(conversation(), [ask('t1'), assert(), { ...assert(), type: 'RetractState', content: {} }]);
    expect(typesOf(play(state, [aTurn.answers('t1-1')]).appends.flat())).toEqual([
      'CallSucceeded',
      'TurnCompleted',
      'HeadMoved',
    ]);
  });

  it('has its effect once under its key', () => {
    const key = { name: 'k', digest: 'd' };
    const { state } = play(conversation(), [assert({ key })]);
    expect(play(state, [assert({ key })]).appends[0]).toEqual([]);
    expect(refusalOf(state, assert({ key: { ...key, digest: 'e' } }))).toEqual({ code: 'idempotency_conflict' });
  });
});
