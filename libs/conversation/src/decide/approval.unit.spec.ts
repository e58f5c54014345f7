import { aTurn, ask, bounds, cancel, conversation, decideOn, play, refusalOf, typesOf } from '../../testing';

const waiting = (calls: Parameters<typeof aTurn.answers>[1] = [{ approval: true, effect: 'write' }]) =>
  play(conversation(), [ask('t1'), aTurn.answers('t1-1', calls)]).state;

describe('an approval', () => {
  it('a turn that waits has no carrier, and blocks the next one', () => {
    expect(waiting()).toMatchObject({ running: { phase: 'waiting' } });
    expect(waiting()).not.toHaveProperty('running.carrier');
    expect(refusalOf(waiting(), ask('t2'))).toEqual({ code: 'turn_running', turnId: 't1', status: 'waiting' });
  });

  it('T05: approved, whoever decides takes the turn up and runs the tool', () => {
    const { appends } = play(waiting(), [decideOn('t1-1-0', 'approve')]);
    expect(appends.map(typesOf)).toEqual([['ToolApprovalDecided', 'TurnTakenOver', 'ToolExecutionStarted']]);
    expect(appends[0]?.[2]?.data).toMatchObject({ carrier: 'decider', argumentsDigest: 'd' });
  });

  it('rejected or expired, the call is closed and the model hears of it', () => {
    const rejected = play(waiting(), [decideOn('t1-1-0', 'reject')]).appends[0] ?? [];
    expect(typesOf(rejected)).toEqual(['ToolApprovalDecided', 'ToolExecuted', 'TurnTakenOver', 'CallRequested']);
    expect(rejected[1]?.data).toMatchObject({ synthetic: 'rejected' });
    const expire = { type: 'ExpireApproval', toolCallId: 't1-1-0', carrier: 'sweeper', bounds } as const;
    expect(play(waiting(), [expire]).appends[0]?.[1]?.data).toMatchObject({ synthetic: 'expired' });
  });

  it('is decided once, with the arguments that the person saw', () => {
    expect(refusalOf(waiting(), decideOn('t1-1-0', 'approve', { argumentsDigest: 'x' }))).toEqual({
      code: 'approval_mismatch',
      argumentsDigest: 'd',
    });
    const { state } = play(waiting(), [decideOn('t1-1-0', 'reject')]);
    expect(refusalOf(state, decideOn('t1-1-0', 'approve'))).toEqual({ code: 'already_decided', decision: 'reject' });
    expect(refusalOf(state, decideOn('t1-9-0', 'approve'))).toEqual({ code: 'not_found', what: 'tool_call' });
  });

  it('with another still open the turn waits on', () => {
    const { appends, state } = play(waiting([{ approval: true }, { approval: true }]), [decideOn('t1-1-0', 'reject')]);
    expect(appends.map(typesOf)).toEqual([['ToolApprovalDecided', 'ToolExecuted']]);
    expect(state).toMatchObject({ running: { phase: 'waiting' } });
  });

  it('while another tool runs its carrier keeps the turn, and goes on with the result', () => {
    const { appends } = play(waiting([{ approval: true }, {}]), [
      decideOn('t1-1-0', 'approve'),
      aTurn.result('t1-1-1'),
    ]);
    expect(appends.map(typesOf)).toEqual([['ToolApprovalDecided'], ['ToolExecuted', 'ToolExecutionStarted']]);
  });

  it('C08: is closed with the turn that is cancelled while it waits', () => {
    const { appends, state } = play(waiting(), [cancel('t1')]);
    expect(appends.map(typesOf)).toEqual([['ToolApprovalDecided', 'ToolExecuted', 'TurnCancelled', 'HeadMoved']]);
    expect(refusalOf(state, decideOn('t1-1-0', 'approve'))).toEqual({ code: 'already_decided', decision: 'cancelled' });
  });
});
