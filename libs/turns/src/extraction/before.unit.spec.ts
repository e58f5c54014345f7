import type { ActiveConversation, ConversationCommand } from '@palimpsest/conversation';
import {
  ask,
  aTurn,
  cancel,
  compact,
  conversation,
  edit,
  extraction,
  grownFrom,
  play,
  work,
} from '@palimpsest/conversation/testing';
import { TURNS_LOOKED_AT, turnsBefore } from './before';

const turn = (id: string): readonly ConversationCommand[] => [ask(id), aTurn.answers(`${id}-1`)];
function before(commands: readonly ConversationCommand[], nodeId?: string) {
  const state = play(conversation(), commands).state as ActiveConversation;
  return turnsBefore(state, nodeId ?? state.head).map((one) => [one.turnId, one.extraction]);
}

describe('the turns before a question', () => {
  it('are told with what became of their extractions, the last one first', () => {
    expect(
      before([
        ...[...turn('t1'), extraction('x1', 't1'), work.answers('x1')],
        ...[...turn('t2'), extraction('x2', 't2'), work.fails('x2', 'unusable_answer')],
        ...[...turn('t3'), extraction('x3', 't3')],
        ...turn('t4'),
      ]),
    ).toEqual([['t4', 'none'], ['t3', 'out'], ['t2', 'failed'], ['t1', 'settled']]); // prettier-ignore
  });

  it('one that was cut off may be asked for again, and a second time it failed', () => {
    const once = [...turn('t1'), extraction('x1', 't1'), work.close('x1')];
    expect(before(once)).toEqual([['t1', 'out']]);
    expect(before([...once, extraction('x2', 't1'), work.close('x2')])).toEqual([['t1', 'failed']]);
  });

  it('are those of its own path, through compactions, and no more than a few', () => {
    const branched = [...turn('t1'), ...turn('t2'), edit('t2', 't3'), aTurn.answers('t3-1')];
    expect(before(branched).map(([id]) => id)).toEqual(['t3', 't1']);
    expect(before([...branched, compact('k1'), work.answers('k1'), ...turn('t4')]).map(([id]) => id)).toEqual(['t4', 't3', 't1']); // prettier-ignore
    expect(before(['t1', 't2', 't3', 't4', 't5', 't6'].flatMap(turn))).toHaveLength(TURNS_LOOKED_AT);
  });

  it('one that did not complete is on the way too, and nobody will read it', () => {
    expect(before([...turn('t1'), ask('t2'), cancel('t2')])).toEqual([['t2', 'failed'], ['t1', 'none']]); // prettier-ignore
  });

  it('know their own nodes and those behind them', () => {
    const state = play(conversation(), [...turn('t1'), ...turn('t2'), ...turn('t3')]).state as ActiveConversation;
    expect(turnsBefore(state, state.head).map(({ since }) => [...since])).toEqual([
      ['t3-1'],
      ['t3-1', 't2-1'],
      ['t3-1', 't2-1', 't1-1'],
    ]);
  });

  it('know no node in front of them: neither a compaction nor the one from which the conversation grows', () => {
    const told = [...turn('t1'), compact('k1'), work.answers('k1'), ...turn('t2')];
    const { state } = play(grownFrom('n0'), told);
    const sinceBy = turnsBefore(state as ActiveConversation, 't2-1').map(({ since }) => [...since]);
    expect(sinceBy).toEqual([['t2-1'], ['t2-1', 'k1', 't1-1']]);
  });
});
