import {
  append,
  aTurn,
  ask,
  bounds,
  CARRIER,
  cancel,
  conversation,
  play,
  refusalOf,
  takeOver,
  typesOf,
} from '../../testing';
import { decide } from '.';
import type { ConversationCommand } from '../commands';
import { absent, type ConversationState } from '../state';

const running = () => play(conversation(), [ask('t1')]).state;

describe('a turn', () => {
  it('is four appends with one read tool: start, answer, result, answer', () => {
    const { appends, state } = play(conversation(), [
      ask('t1'),
      aTurn.answers('t1-1', [{ effect: 'read' }]),
      aTurn.result('t1-1-0'),
      aTurn.answers('t1-2'),
    ]);
    expect(appends.map(typesOf)).toEqual([
      ['TurnStarted', 'CallRequested'],
      ['CallSucceeded', 'ToolExecutionStarted'],
      ['ToolExecuted', 'CallRequested'],
      ['CallSucceeded', 'TurnCompleted', 'HeadMoved'],
    ]);
    expect(state).toMatchObject({ head: 't1-2', running: null, openCalls: [] });
  });

  it('C01: refuses a second turn while one runs', () => {
    expect(refusalOf(running(), ask('t2'))).toEqual({ code: 'turn_running', turnId: 't1', status: 'running' });
  });

  it('B05: refuses a parent that is no node of the conversation, whatever runs', () => {
    expect(refusalOf(running(), ask('t2', { parent: 'other-1' }))).toEqual({
      code: 'unknown_parent',
      parent: 'other-1',
    });
  });

  it('B05: refuses a turn under a parent that still streams', () => {
    expect(refusalOf(running(), ask('t2', { parent: 't1-1' }))).toMatchObject({ code: 'turn_running' });
  });

  it('refuses a parent that is known and no longer the head, with both', () => {
    const { state } = play(running(), [aTurn.answers('t1-1'), ask('t2'), aTurn.answers('t2-1')]);
    expect(refusalOf(state, ask('t3', { parent: 't1-1' }))).toEqual({
      code: 'revision_conflict',
      parent: 't1-1',
      head: 't2-1',
    });
    expect(refusalOf(state, ask('t3', { parent: null }))).toMatchObject({ code: 'revision_conflict', parent: null });
    expect(decide(state, ask('t3', { parent: 't2-1' }))).toMatchObject({ ok: true });
  });

  it('refuses everything in a conversation that was never started', () => {
    expect(refusalOf(absent, ask('t1'))).toEqual({ code: 'not_found', what: 'conversation' });
  });

  it('D03: a cancel before the first token leaves a failed node with the reason, and the head on it', () => {
    const { state, appends } = play(running(), [cancel('t1')]);
    expect(appends.map(typesOf)).toEqual([['CallFailed', 'TurnCancelled', 'HeadMoved']]);
    expect(state).toMatchObject({ head: 't1-1' });
    expect(appends[0]?.[0]?.data).toEqual({ nodeId: 't1-1', reason: 'cancelled' });
    expect(appends[0]?.[2]?.data).toMatchObject({ from: null, to: 't1-1', reason: 'failure' });
  });

  it('a cancel of an ended turn is already so, and of an unknown one not found', () => {
    const { state } = play(running(), [aTurn.answers('t1-1')]);
    expect(decide(state, cancel('t1'))).toEqual({ ok: true, events: [], facts: 0 });
    expect(refusalOf(state, cancel('t9'))).toEqual({ code: 'not_found', what: 'turn' });
  });

  it('a turn that ends before its first request leaves the head where it is', () => {
    const { state: began } = play(conversation(), [ask('t1'), aTurn.answers('t1-1')]);
    const started = decide(began, ask('t2'));
    if (!started.ok) throw new Error('refused');
    expect(started.facts).toBe(1);
    const { state, appends } = play(append(began, started.events.slice(0, started.facts)), [cancel('t2')]);
    expect(appends.map(typesOf)).toEqual([['TurnCancelled']]);
    expect(state).toMatchObject({ head: 't1-1', running: null });
  });

  it('a call that fails because the context is too large moves the head to the last node that succeeded', () => {
    const { state } = play(running(), [
      aTurn.answers('t1-1', [{}]),
      aTurn.result('t1-1-0'),
      aTurn.fails('t1-2', 'context_overflow'),
    ]);
    expect(state).toMatchObject({ head: 't1-1', running: null });
    expect(play(running(), [aTurn.fails('t1-1', 'context_overflow')]).state).toMatchObject({ head: null });
    expect(play(running(), [aTurn.fails('t1-1', 'overloaded')]).state).toMatchObject({ head: 't1-1' });
  });

  it('so it does where the failure stood alone, and a cancel came before the turn could go on', () => {
    const failed = decide(running(), aTurn.fails('t1-1', 'context_overflow'));
    if (!failed.ok) throw new Error('refused');
    const { state } = play(append(running(), failed.events.slice(0, failed.facts)), [cancel('t1')]);
    expect(state).toMatchObject({ head: null, running: null });
  });

  it.each(['context_overflow', 'request_too_large'] as const)(
    'leaves no head on an answer after which no request can be made: %s',
    (reason) => {
      const fail = { type: 'FailTurn', carrier: CARRIER, reason, detail: 'too large' } as const;
      const round = (n: number) => [aTurn.answers(`t1-${n}`, [{}]), aTurn.result(`t1-${n}-0`)];
      // As the shell does where the next request was refused: the facts stand alone.
      const factsOf = (state: ConversationState, command: ConversationCommand) => {
        const decided = decide(state, command);
        if (!decided.ok) throw new Error('refused');
        return append(state, decided.events.slice(0, decided.facts));
      };
      const [answer, result] = round(1);
      const first = factsOf(play(running(), [answer!]).state, result!);
      expect(play(first, [fail]).state).toMatchObject({ head: null, running: null });
      const [second, itsResult] = round(2);
      const later = factsOf(play(running(), [answer!, result!, second!]).state, itsResult!);
      expect(play(later, [fail]).state).toMatchObject({ head: 't1-1', running: null });
      expect(play(later, [{ ...fail, reason: 'internal' }]).state).toMatchObject({ head: 't1-2' });
    },
  );

  it('tells why a failed call ended the turn', () => {
    const { appends } = play(running(), [aTurn.fails('t1-1', 'auth')]);
    expect(appends[0]?.[1]).toMatchObject({
      type: 'TurnFailed',
      data: { reason: 'auth' },
      content: { detail: 'it failed: auth' },
    });
  });

  it('P10: ends with too_many_rounds where another round would be one too many', () => {
    const two = { ...bounds, maxRounds: 2 };
    const { appends, state } = play(running(), [
      aTurn.answers('t1-1', [{}]),
      aTurn.result('t1-1-0'),
      aTurn.answers('t1-2', [{}]),
      { ...aTurn.result('t1-2-0'), bounds: two },
    ]);
    expect(typesOf(appends[3] ?? [])).toEqual(['ToolExecuted', 'TurnFailed', 'HeadMoved']);
    expect(appends[3]?.[1]?.data).toEqual({ turnId: 't1', reason: 'too_many_rounds' });
    expect(state).toMatchObject({ head: 't1-2' });
  });

  it('drops an answer of another carrier, and a second one', () => {
    expect(refusalOf(running(), aTurn.answers('t1-1', [], 'other'))).toEqual({ code: 'not_carrier' });
    const { state } = play(running(), [aTurn.answers('t1-1', [{}])]);
    expect(refusalOf(state, aTurn.answers('t1-1'))).toEqual({ code: 'node_ended' });
  });

  it('the carrier that cannot go on ends the turn; another may not', () => {
    const fail = { type: 'FailTurn', carrier: CARRIER, reason: 'internal', detail: 'no key' } as const;
    expect(play(running(), [fail]).appends.map(typesOf)).toEqual([['CallFailed', 'TurnFailed', 'HeadMoved']]);
    expect(refusalOf(running(), { ...fail, carrier: 'other' })).toEqual({ code: 'not_carrier' });
  });
});

it('a cancel keeps what had arrived of the answer that it cuts off, and of no other', () => {
  const failed = (arrived: { nodeId: string; text: string }) =>
    play(running(), [cancel('t1', { arrived })]).appends[0]?.[0];
  expect(failed({ nodeId: 't1-1', text: 'so far' })).toMatchObject({
    type: 'CallFailed',
    data: { nodeId: 't1-1', reason: 'cancelled' },
    content: { partial: 'so far' },
  });
  expect(failed({ nodeId: 't0-1', text: 'of another' })).toMatchObject({ content: null });
  expect(failed({ nodeId: 't1-1', text: '' })).toMatchObject({ content: null });
});

describe('a queue', () => {
  const busy = () => play(conversation('queue'), [ask('t1'), ask('t2')]).state;
  const question = ask('t2', { carrier: 'c2' });
  const startQueued = { ...question, type: 'StartQueuedTurn' } as const;

  it('takes a question while a turn runs, and starts it when the turn has ended', () => {
    expect(refusalOf(busy(), startQueued)).toMatchObject({ code: 'turn_running', turnId: 't1' });
    const { appends } = play(busy(), [aTurn.answers('t1-1'), startQueued]);
    expect(appends[1]?.[0]?.data).toMatchObject({ turnId: 't2', kind: 'ask', parent: 't1-1', carrier: 'c2' });
  });

  it('starts only the first that waits', () => {
    const { state } = play(busy(), [ask('t3'), aTurn.answers('t1-1')]);
    expect(refusalOf(state, { ...startQueued, turnId: 't3' })).toEqual({ code: 'nothing_queued' });
  });

  it('forgets a question that was cancelled in it', () => {
    const { appends, state } = play(busy(), [cancel('t2'), aTurn.answers('t1-1')]);
    expect(appends.map(typesOf)[0]).toEqual(['TurnCancelled']);
    expect(refusalOf(state, startQueued)).toEqual({ code: 'nothing_queued' });
    expect(decide(state, ask('t3'))).toMatchObject({ ok: true });
  });
});

describe('keys', () => {
  const key = { name: 'k', digest: 'd' };

  it('C09: the same key again has no second effect, and names what the first one did', () => {
    const first = ask('t1', { key });
    const { state } = play(conversation(), [first]);
    const again = { ok: true, events: [], facts: 0, known: { revision: 1n, turnId: 't1' } };
    expect(decide(state, { ...first, turnId: 't9', carrier: 'c9' })).toEqual(again);
    expect(decide(play(state, [aTurn.answers('t1-1')]).state, first)).toEqual(again);
  });

  it('C09: the same key with another body is refused, before anything else is looked at', () => {
    const { state } = play(conversation(), [ask('t1', { key })]);
    const other = ask('t2', { key: { name: 'k', digest: 'x' }, parent: 'nowhere' });
    expect(refusalOf(state, other)).toEqual({ code: 'idempotency_conflict' });
  });

  it('an equal cancel is answered from the key, not as already so', () => {
    const { state } = play(running(), [cancel('t1', { key })]);
    expect(decide(state, cancel('t1', { key }))).toMatchObject({ known: { turnId: 't1' } });
  });

  it('a refusal is not remembered', () => {
    const refused = ask('t2', { key });
    expect(refusalOf(running(), refused)).toMatchObject({ code: 'turn_running' });
    const { state } = play(running(), [aTurn.answers('t1-1')]);
    expect(decide(state, refused)).toMatchObject({ ok: true, facts: 1 });
  });
});

describe('a takeover', () => {
  it('T02: closes a started write tool as interrupted, starts a read tool again, and counts', () => {
    const { state } = play(running(), [aTurn.answers('t1-1', [{ effect: 'write' }, { effect: 'read' }])]);
    const { appends } = play(state, [takeOver('c2'), aTurn.result('t1-1-1', 'c2')]);
    expect(appends.map(typesOf)).toEqual([
      ['TurnTakenOver', 'ToolExecuted', 'ToolExecutionStarted'],
      ['ToolExecuted', 'CallRequested'],
    ]);
    expect(appends[0]?.[1]).toMatchObject({ data: { toolCallId: 't1-1-0', synthetic: 'interrupted' } });
    expect(appends[0]?.[2]?.data).toMatchObject({ toolCallId: 't1-1-1', runId: 't1-1-1/c2' });
  });

  it('sends a pending call again', () => {
    expect(play(running(), [takeOver('c2')]).appends.map(typesOf)).toEqual([['TurnTakenOver', 'CallAttemptFailed']]);
  });

  it('is refused while the carrier lives, and where nothing runs', () => {
    expect(refusalOf(running(), takeOver('c2', null))).toEqual({ code: 'carried' });
    expect(refusalOf(conversation(), takeOver('c2'))).toEqual({ code: 'not_running' });
  });

  it('is refused where another carrier has the turn than the one that was found dead', () => {
    const { state } = play(running(), [takeOver('c2')]);
    expect(refusalOf(state, takeOver('c3', CARRIER))).toEqual({ code: 'carried' });
  });

  it('gives up after three without an answer or a result between; an answer starts the count anew', () => {
    const thrice = [takeOver('c2'), takeOver('c3', 'c2'), takeOver('c4', 'c3')];
    const { appends, state } = play(running(), [...thrice, takeOver('c5', 'c4')]);
    expect(typesOf(appends[3] ?? [])).toEqual(['CallFailed', 'TurnFailed', 'HeadMoved']);
    expect(state).toMatchObject({ running: null, head: 't1-1' });
    const answered = play(running(), [...thrice, aTurn.answers('t1-1', [{}], 'c4'), takeOver('c5', 'c4')]);
    expect(answered.state).toMatchObject({ running: { carrier: 'c5', takeovers: 1 } });
  });

  it('T09: a zombie may still record the result of its run; the new carrier goes on at its next look', () => {
    const { state } = play(running(), [aTurn.answers('t1-1', [{ effect: 'read' }]), takeOver('c2')]);
    const { appends } = play(state, [aTurn.result('t1-1-0', CARRIER), { type: 'GoOn', carrier: 'c2', bounds }]);
    expect(appends.map(typesOf)).toEqual([['ToolExecuted'], ['CallRequested']]);
  });
});

describe('a tool result', () => {
  it('C03: eight tools that return one by one give eight results and one next round', () => {
    const eight = Array.from({ length: 8 }, (_, index) => index);
    const { appends } = play(running(), [
      aTurn.answers('t1-1', eight.map(() => ({}))), // prettier-ignore
      ...eight.map((index) => aTurn.result(`t1-1-${index}`)),
    ]);
    expect(appends.slice(1).map(typesOf)).toEqual([
      ...Array.from({ length: 7 }, () => ['ToolExecuted']),
      ['ToolExecuted', 'CallRequested'],
    ]);
  });

  it('is recorded after a cancel, unless the next start closed the call first', () => {
    const { state } = play(running(), [aTurn.answers('t1-1', [{ effect: 'write' }]), cancel('t1')]);
    expect(play(state, [aTurn.result('t1-1-0')]).appends.map(typesOf)).toEqual([['ToolExecuted']]);
    const { appends, state: closed } = play(state, [ask('t2')]);
    expect(appends.map(typesOf)).toEqual([['ToolExecuted', 'TurnStarted', 'CallRequested']]);
    expect(appends[0]?.[0]?.data).toMatchObject({ toolCallId: 't1-1-0', synthetic: 'interrupted' });
    expect(decide(closed, aTurn.result('t1-1-0'))).toEqual({ ok: true, events: [], facts: 0 });
  });

  it('T07: a cancel closes what was not started and leaves results that stand', () => {
    const { state } = play(running(), [
      aTurn.answers('t1-1', [{}, {}, { approval: true }]),
      aTurn.result('t1-1-0'),
      aTurn.result('t1-1-1'),
    ]);
    const { appends } = play(state, [cancel('t1'), ask('t2')]);
    expect(appends.map(typesOf)).toEqual([
      ['ToolApprovalDecided', 'ToolExecuted', 'TurnCancelled', 'HeadMoved'],
      ['TurnStarted', 'CallRequested'],
    ]);
    expect(appends[0]?.[1]?.data).toMatchObject({ toolCallId: 't1-1-2', synthetic: 'not_started' });
    expect(appends[1]?.[1]?.data).toMatchObject({ parent: 't1-1' });
  });

  it('of a run that was never started is not found', () => {
    expect(refusalOf(running(), aTurn.result('t1-1-0'))).toEqual({ code: 'not_found', what: 'tool_call' });
  });

  it('an invalid call gets its result before any approval, in words that are at hand or, after a takeover, in general ones', () => {
    const bad = { approval: true, invalid: 'unknown_tool', invalidText: 'no tool "sqll"' } as const;
    const answered = decide(running(), aTurn.answers('t1-1', [bad]));
    if (!answered.ok) throw new Error('refused');
    expect(typesOf(answered.events)).toEqual(['CallSucceeded', 'ToolExecuted', 'CallRequested']);
    expect(answered.events[1]).toMatchObject({ data: { synthetic: 'invalid' }, content: { text: 'no tool "sqll"' } });
    expect(JSON.stringify(answered.events[0])).not.toContain('sqll');
    const { appends } = play(append(running(), answered.events.slice(0, answered.facts)), [takeOver('c2')]);
    expect(appends[0]?.[1]).toMatchObject({ content: { text: 'Not run: there is no tool of this name.' } });
  });
});
