import { aTurn, ask, conversation, play, refusalOf, typesOf } from '../../testing';

describe('a plain turn', () => {
  it('is four appends: start, answer with a tool call, result, answer', () => {
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
    const { state } = play(conversation(), [ask('t1')]);
    expect(refusalOf(state, ask('t2'))).toEqual({ code: 'turn_running', turnId: 't1', status: 'running' });
  });
});
