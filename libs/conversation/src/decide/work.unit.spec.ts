import {
  aTurn,
  append,
  ask,
  cancel,
  compact,
  conversation,
  edit,
  play,
  refusalOf,
  switchTo,
  transform,
  typesOf,
  work,
} from '../../testing';
import type { ActiveConversation } from '../state';
import type { JudgeTransform, ReissueCall } from '../commands';
import { decide } from './index';

const asked = () => play(conversation(), [ask('t1'), aTurn.answers('t1-1'), ask('t2'), aTurn.answers('t2-1')]).state;
const key = { name: 'n', digest: 'd' };

describe('a compaction', () => {
  it('its success and the move of the head are one append', () => {
    const { state, appends } = play(asked(), [compact('k1'), work.answers('k1')]);
    expect(appends.map(typesOf)).toEqual([['CallRequested'], ['CallSucceeded', 'ContextCompacted', 'HeadMoved']]);
    expect(appends[1]?.[1]?.data).toEqual({ nodeId: 'k1', origin: 't2-1' });
    expect(state).toMatchObject({ head: 'k1', running: null });
  });

  it('is refused while a turn runs, waits or is queued', () => {
    const running = play(asked(), [ask('t3')]).state;
    expect(refusalOf(running, compact('k1'))).toMatchObject({ code: 'turn_running', status: 'running' });
    const waiting = play(running, [aTurn.answers('t3-1', [{ approval: true }])]).state;
    expect(refusalOf(waiting, compact('k1'))).toMatchObject({ code: 'turn_running', status: 'waiting' });
  });

  it('is refused where nothing was said, at all or since the last one', () => {
    expect(refusalOf(conversation(), compact('k1'))).toEqual({ code: 'nothing_to_compact' });
    const { state } = play(asked(), [compact('k1'), work.answers('k1')]);
    expect(refusalOf(state, compact('k2'))).toEqual({ code: 'nothing_to_compact' });
  });

  it('that comes after the conversation went on is superseded, and moves nothing', () => {
    const requested = play(asked(), [compact('k1')]).state;
    for (const meanwhile of [[ask('t3')], [ask('t3'), aTurn.answers('t3-1')], [edit('t2', 't3')], [cancelled]]) {
      const { state } = play(requested, meanwhile.flat());
      const { appends } = play(state, [work.answers('k1')]);
      expect(appends[0]).toMatchObject([{ type: 'CallFailed', data: { nodeId: 'k1', reason: 'superseded' } }]);
    }
    expect(play(requested, [compact('k2'), work.answers('k2'), work.answers('k1')]).state).toMatchObject({
      head: 'k2',
    });
  });

  it('has parts of a path summarised, and neither what stands beside it nor a turn that runs', () => {
    const { state } = play(asked(), [transform('p1'), work.answers('p1')]);
    const summary = (parent: string) =>
      ({ type: 'RequestSummary', nodeId: 's1', carrier: 'w', instruction: 'i', parent }) as const;
    expect(refusalOf(state, summary('p1'))).toEqual({ code: 'unknown_parent', parent: 'p1' });
    expect(decide(state, summary('t1-1'))).toMatchObject({ ok: true });
    const running = play(state, [ask('t3'), aTurn.answers('t3-1', [{}])]).state;
    expect(refusalOf(running, summary('t3-1'))).toMatchObject({ code: 'turn_running', turnId: 't3' });
    expect(decide(running, summary('t2-1'))).toMatchObject({ ok: true });
  });

  it('has what begins at one place of a way summarised once, unless that failed', () => {
    const part = (nodeId: string, parent: string) =>
      ({
        type: 'RequestSummary',
        nodeId,
        carrier: `carrier-${nodeId}`,
        instruction: 'i',
        parent,
        segment: 'window',
      }) as const;
    const { state: pending } = play(asked(), [part('s1', 't1-1')]);
    const { state: made } = play(pending, [work.answers('s1')]);
    for (const state of [pending, made])
      for (const parent of ['t1-1', 't2-1'])
        expect(decide(state, part('s2', parent))).toMatchObject({ ok: true, events: [], known: { nodeId: 's1' } });
    const anew = { ok: true, events: [{ type: 'CallRequested', data: { nodeId: 's2' } }] };
    expect(decide(made, { ...part('s2', 't2-1'), continues: 's1' })).toMatchObject(anew);
    const { state: failed } = play(pending, [work.fails('s1', 'auth')]);
    expect(decide(failed, part('s2', 't1-1'))).toMatchObject(anew);
    const [before, behind] = [asked(), failed].map((state) => BigInt((state as ActiveConversation).revision));
    expect(decide(failed, { ...part('s2', 't1-1'), seen: behind })).toMatchObject(anew);
    expect(decide(failed, { ...part('s2', 't1-1'), seen: before })).toMatchObject({
      events: [],
      known: { nodeId: 's1' },
    });
    const { state: beside } = play(asked(), [part('s1', 't2-1'), edit('t2', 't3'), aTurn.answers('t3-1')]);
    expect(decide(beside, part('s2', 't3-1'))).toMatchObject(anew);
    const { state: compacted } = play(made, [compact('k1'), work.answers('k1'), ask('t3'), aTurn.answers('t3-1')]);
    expect(decide(compacted, part('s2', 't3-1'))).toMatchObject(anew);
  });

  it('K10: that fails changes nothing', () => {
    const { state, appends } = play(asked(), [compact('k1'), work.fails('k1', 'unusable_answer')]);
    expect(appends[1]).toMatchObject([{ type: 'CallFailed', data: { reason: 'unusable_answer' } }]);
    expect(state).toMatchObject({ head: 't2-1' });
    expect(decide(state, compact('k2'))).toMatchObject({ ok: true });
  });

  it('its key has its effect once, and is answered from its node', () => {
    const { state } = play(asked(), [compact('k1', { key })]);
    expect(decide(state, compact('k2', { key }))).toMatchObject({ ok: true, events: [], known: { nodeId: 'k1' } });
    expect(refusalOf(state, compact('k2', { key: { ...key, digest: 'e' } }))).toEqual({ code: 'idempotency_conflict' });
  });

  it('closes the calls that a cancelled turn left open', () => {
    const { state } = play(asked(), [ask('t3'), aTurn.answers('t3-1', [{ effect: 'write' }]), cancel('t3')]);
    const { appends } = play(state, [compact('k1')]);
    expect(appends.map(typesOf)).toEqual([['ToolExecuted', 'CallRequested']]);
  });

  it('K07: of an earlier branch leaves the later nodes as they were', () => {
    const branched = play(asked(), [edit('t2', 't3'), aTurn.answers('t3-1'), compact('k1'), work.answers('k1')]).state;
    expect(play(branched, [switchTo('t2-1')]).state).toMatchObject({ head: 't2-1' });
    expect(play(branched, [switchTo('t2-1'), switchTo('k1')]).state).toMatchObject({ head: 'k1' });
  });
});

const cancelled = [ask('t3'), cancel('t3')];

describe('a call outside a turn', () => {
  it('blocks no turn and moves no head', () => {
    const { state } = play(asked(), [transform('p1'), ask('t3'), work.answers('p1'), aTurn.answers('t3-1')]);
    expect(state).toMatchObject({ head: 't3-1', running: null });
    expect(decide(state, switchTo('p1'))).toMatchObject({ refusal: { code: 'not_switchable', kind: 'transform' } });
  });

  it('takes its answer from its own carrier, once', () => {
    const { state } = play(asked(), [transform('p1')]);
    expect(refusalOf(state, work.answers('p1', 'another'))).toEqual({ code: 'not_carrier' });
    const answered = play(state, [work.attempt('p1'), work.answers('p1')]).state;
    expect(refusalOf(answered, work.answers('p1'))).toEqual({ code: 'node_ended' });
    expect(refusalOf(answered, work.attempt('p1'))).toEqual({ code: 'node_ended' });
    expect(refusalOf(state, work.answers('t1-1'))).toEqual({ code: 'not_found', what: 'node' });
  });

  it('whose carrier is gone is closed, once, and its late answer is dropped', () => {
    const { state } = play(asked(), [transform('p1')]);
    expect(refusalOf(state, work.close('p1', 'another'))).toEqual({ code: 'carried' });
    const { state: closed, appends } = play(state, [work.close('p1')]);
    expect(appends[0]).toMatchObject([{ type: 'CallFailed', data: { reason: 'interrupted' } }]);
    expect(refusalOf(closed, work.close('p1'))).toEqual({ code: 'node_ended' });
    expect(refusalOf(closed, work.answers('p1'))).toEqual({ code: 'node_ended' });
  });

  it('a summary stands under a node that no running turn goes on from', () => {
    const summary = (parent: string, continues?: string) =>
      ({ type: 'RequestSummary', nodeId: 's1', carrier: 'carrier-s1', instruction: 'i', parent, continues }) as const;
    const running = play(asked(), [ask('t3'), aTurn.answers('t3-1', [{}])]).state;
    expect(refusalOf(running, summary('t3-1'))).toMatchObject({ code: 'turn_running', turnId: 't3' });
    expect(refusalOf(running, summary('t9-1'))).toEqual({ code: 'unknown_parent', parent: 't9-1' });
    const { state } = play(running, [summary('t1-1'), work.answers('s1')]);
    expect(state).toMatchObject({ head: 't2-1', running: { turnId: 't3' } });
    expect(refusalOf(state, { ...summary('t2-1', 't1-1'), nodeId: 's2' })).toMatchObject({ code: 'unknown_parent' });
    expect(decide(state, { ...summary('t2-1', 's1'), nodeId: 's2' })).toMatchObject({ ok: true });
  });

  it('a transform stands under the head, or under the attempt before', () => {
    const { appends } = play(asked(), [transform('p1'), work.fails('p1', 'timeout'), transform('p2', { after: 'p1' })]);
    expect(appends[0]?.[0]?.data).toMatchObject({ parent: 't2-1', kind: 'transform' });
    expect(appends[2]?.[0]?.data).toMatchObject({ parent: 'p1' });
    expect(refusalOf(asked(), transform('p1', { after: 't1-1' }))).toEqual({ code: 'unknown_parent', parent: 't1-1' });
    expect(refusalOf(conversation(), transform('p1'))).toEqual({ code: 'no_context' });
  });

  it('a transform is judged once it succeeded, and once', () => {
    const { state } = play(asked(), [transform('p1')]);
    const judge = (nodeId: string, verdict: JudgeTransform['verdict']): JudgeTransform => ({ type: 'JudgeTransform', nodeId, verdict }); // prettier-ignore
    const errors = ['It has no steps.'];
    expect(refusalOf(state, judge('p1', { errors }))).toEqual({ code: 'not_found', what: 'node' });
    expect(refusalOf(state, judge('t1-1', { errors }))).toEqual({ code: 'not_found', what: 'node' });
    const refused = play(state, [work.answers('p1'), judge('p1', { errors }), judge('p1', { playbookId: 'b' })]);
    const event = { type: 'TransformJudged', data: { nodeId: 'p1', ok: false }, content: { errors } };
    expect(refused.appends.slice(1)).toEqual([[event], []]);
    const { appends } = play(refused.state, [transform('p2', { after: 'p1' }), work.answers('p2'), judge('p2', { playbookId: 'b' })]); // prettier-ignore
    const data = { nodeId: 'p2', ok: true, playbookId: 'b' };
    expect(appends[2]).toEqual([{ type: 'TransformJudged', data, content: null }]);
  });

  it('C06: a transform that is requested, fails, is judged and succeeds in the midst of a turn breaks nothing', () => {
    const judge = { type: 'JudgeTransform', nodeId: 'p1', verdict: { errors: ['x'] } } as const;
    const { appends, state } = play(asked(), [
      ...[ask('t3'), transform('p1'), aTurn.answers('t3-1', [{}]), work.answers('p1'), judge],
      ...[transform('p2', { after: 'p1' }), aTurn.result('t3-1-0'), aTurn.answers('t3-2'), work.fails('p2', 'timeout')],
    ]);
    expect(appends[6]?.[1]?.data).toMatchObject({ nodeId: 't3-2', parent: 't3-1' });
    expect(state).toMatchObject({ head: 't3-2', running: null });
  });

  it('sends a request again that has ended, at any time, once a key, and closes and moves nothing', () => {
    const again = (of: string, more: Partial<ReissueCall> = {}) =>
      ({ type: 'ReissueCall', nodeId: 'r1', carrier: 'carrier-r1', of, ...more }) as const;
    const running = play(asked(), [ask('t3'), aTurn.answers('t3-1', [{}])]).state;
    const key = { name: 'k', digest: 'd' };
    const { state, appends } = play(running, [again('t3-1', { key }), work.answers('r1')]);
    const data = { nodeId: 'r1', kind: 'reissue', parent: 't3-1', carrier: 'carrier-r1' };
    expect(appends[0]).toEqual([{ type: 'CallRequested', data, content: null, key }]);
    expect(appends[1]?.map(({ type }) => type)).toEqual(['CallSucceeded']);
    expect(running).toMatchObject({ head: 't2-1', openCalls: ['t3-1-0'] });
    expect(state).toMatchObject({ head: 't2-1', openCalls: ['t3-1-0'] });
    expect(decide(state, switchTo('r1'))).toMatchObject({ refusal: { code: 'turn_running' } });
    expect(decide(state, again('t3-1', { nodeId: 'r2', key }))).toMatchObject({ events: [], known: { nodeId: 'r1' } });
    const cleared = play(asked(), [{ type: 'ClearConversation' }]).state;
    expect(decide(cleared, again('t1-1'))).toMatchObject({ ok: true });
  });

  it('sends no request again that has not ended or that was sent again itself, and makes only those of turns for another model', () => {
    const again = { type: 'ReissueCall', nodeId: 'r1', carrier: 'carrier-r1' } as const;
    const renderedFor = { provider: 'anthropic', name: 'claude' };
    const { state } = play(asked(), [transform('p1')]);
    expect(refusalOf(state, { ...again, of: 'p1' })).toEqual({ code: 'node_pending', nodeId: 'p1' });
    expect(refusalOf(state, { ...again, of: 'nobody' })).toEqual({ code: 'not_found', what: 'node' });
    const ended = play(state, [work.answers('p1'), { ...again, of: 'p1' }, work.answers('r1')]).state;
    const reissued = refusalOf(ended, { ...again, nodeId: 'r2', of: 'r1' });
    expect(reissued).toEqual({ code: 'not_reissuable', kind: 'reissue' });
    const drafted = refusalOf(ended, { ...again, nodeId: 'r2', of: 'p1', renderedFor });
    expect(drafted).toEqual({ code: 'not_reissuable', kind: 'transform' });
    const { appends } = play(ended, [{ ...again, nodeId: 'r2', of: 't1-1', renderedFor }]);
    expect(appends[0]?.[0]?.data).toMatchObject({ renderedFor });
  });

  it('runs no tool, whatever its answer asks for', () => {
    const { state } = play(asked(), [transform('p1')]);
    const toolCall = { toolCallId: 'p1-0', tool: 'x', effect: 'write', approval: false, argumentsDigest: 'd' } as const;
    const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 };
    const data = { nodeId: 'p1', toolCalls: [toolCall], usage, stopReason: 'tool_use' };
    expect(append(state, [{ type: 'CallSucceeded', data, content: { response: null } }])).toMatchObject({
      openCalls: [],
    });
  });
});
