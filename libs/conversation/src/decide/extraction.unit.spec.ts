import {
  ask,
  aTurn,
  cancel,
  conversation,
  edit,
  extraction,
  play,
  refusalOf,
  typesOf,
  work,
} from '@palimpsest/conversation/testing';
import { deserialize, type Extracted, type RecordWork, serialize } from '@palimpsest/conversation';
import { decide } from './index';

const asked = () => play(conversation(), [ask('t1'), aTurn.answers('t1-1', [{}]), aTurn.result('t1-1-0'), aTurn.answers('t1-2')]).state; // prettier-ignore

const found: Extracted = {
  statements: [
    {
      type: 'StateAsserted',
      data: { nodeId: 't1-1', turnId: 't1', extraction: 'x1', field: 'f', by: 'user', cardinality: 'one', confirm: 'stated', digests: {} }, // prettier-ignore
      content: { value: 'v', quote: 'v' },
    },
  ],
  tags: [{ nodeId: 't1-1', item: 'sent/0', tag: 'fact' }],
};
function answers(nodeId: string, extracted: Extracted = found): RecordWork {
  const recorded = work.answers(nodeId);
  return { ...recorded, answer: { ...recorded.answer, extracted } as RecordWork['answer'] };
}

describe('an extraction', () => {
  it('stands under the last node of its turn, and what it found behind its answer, in one append', () => {
    const { appends, state } = play(asked(), [extraction('x1', 't1'), answers('x1')]);
    expect(appends[0]?.map(({ data }) => data)).toMatchObject([{ kind: 'extraction', parent: 't1-2' }]);
    expect(typesOf(appends[1] ?? [])).toEqual(['CallSucceeded', 'StateAsserted', 'ItemTagged']);
    expect(appends[1]?.[2]?.data).toMatchObject({ item: 'sent/0', tag: 'fact', source: 'extraction' });
    expect(state).toMatchObject({ head: 't1-2', running: null });
  });

  it('that fails changes nothing else', () => {
    const { appends } = play(asked(), [extraction('x1', 't1'), work.fails('x1', 'unusable_answer')]);
    expect(typesOf(appends[1] ?? [])).toEqual(['CallFailed']);
  });

  it('is of a completed turn, and of no other', () => {
    expect(refusalOf(asked(), extraction('x1', 't9'))).toEqual({ code: 'not_found', what: 'turn' });
    const running = play(asked(), [ask('t2')]).state;
    expect(refusalOf(running, extraction('x1', 't2'))).toMatchObject({ code: 'turn_running', turnId: 't2' });
    const cancelled = play(running, [cancel('t2')]).state;
    expect(refusalOf(cancelled, extraction('x1', 't2'))).toEqual({ code: 'no_context' });
    const cleared = play(asked(), [{ type: 'ClearConversation' }]).state;
    expect(refusalOf(cleared, extraction('x1', 't1'))).toEqual({ code: 'cleared', epoch: 1 });
  });

  it('is made once for each turn: while it is out, once it succeeded, and once it failed for what it is', () => {
    const already = { ok: true, events: [], known: { nodeId: 'x1' } };
    const out = play(asked(), [extraction('x1', 't1')]).state;
    expect(decide(out, extraction('x2', 't1'))).toMatchObject(already);
    expect(decide(play(out, [answers('x1')]).state, extraction('x2', 't1'))).toMatchObject(already);
    const failed = play(out, [work.fails('x1', 'unusable_answer')]).state;
    expect(decide(failed, extraction('x2', 't1'))).toMatchObject(already);
  });

  it('that was cut off is made once more, and no third time', () => {
    const { state, appends } = play(asked(), [
      ...[extraction('x1', 't1'), work.close('x1')],
      ...[extraction('x2', 't1'), work.fails('x2', 'interrupted')],
    ]);
    expect(appends[2]?.[0]?.data).toMatchObject({ nodeId: 'x2', parent: 't1-2' });
    expect(decide(state, extraction('x3', 't1'))).toMatchObject({ ok: true, events: [], known: { nodeId: 'x2' } });
  });

  it('an answer that comes after a sweep closed it is dropped', () => {
    const { state } = play(asked(), [extraction('x1', 't1'), work.close('x1')]);
    expect(refusalOf(state, answers('x1'))).toEqual({ code: 'node_ended' });
  });

  it('C06: in the midst of the next turn breaks nothing; each branch has its own', () => {
    const { state } = play(asked(), [extraction('x1', 't1'), ask('t2'), answers('x1'), aTurn.answers('t2-1')]);
    expect(state).toMatchObject({ head: 't2-1', running: null });
    const { appends } = play(state, [edit('t2', 't3'), aTurn.answers('t3-1'), extraction('x2', 't2'), extraction('x3', 't3')]); // prettier-ignore
    expect(appends.slice(2).map(([event]) => event?.data)).toMatchObject([{ parent: 't2-1' }, { parent: 't3-1' }]);
  });

  it('is remembered by a snapshot', () => {
    const state = deserialize(serialize(play(asked(), [extraction('x1', 't1')]).state));
    expect(state && decide(state, extraction('x2', 't1'))).toMatchObject({ events: [], known: { nodeId: 'x1' } });
  });
});
