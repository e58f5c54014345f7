import { hear } from './heard';
import { asksWhatWasBefore, recollected, recollection } from './recollection';

const offered = (...names: readonly string[]) =>
  hear('openai', {
    tools: names.map((name) => ({
      type: 'function',
      function: { name, parameters: { properties: { field: { enum: ['goal', 'budget'] } } } },
    })),
  });

describe('what was it before', () => {
  it.each(['What was it before?', 'And what was the budget before that?', '전에는 얼마였지?'])(
    'is asked by %j',
    (text) => expect(asksWhatWasBefore(text)).toBe(true),
  );

  it.each(['Was it so before?', 'What was it?', 'Before we start: what is it?', '그전에 하나만'])(
    'is not asked by %j',
    (text) => expect(asksWhatWasBefore(text)).toBe(false),
  );

  it('is asked of the tool for it, of the field that is named or else of the first', () => {
    const call = (question: string) => recollection(offered('sql', 'recall_state'), question)?.arguments;
    expect(call('What was the Budget before?')).toBe('{"field":"budget"}');
    expect(call('What was it before?')).toBe('{"field":"goal"}');
    expect(recollection(offered('sql'), 'What was it before?')).toBeUndefined();
  });

  it('is the last value that gave way, as the tool tells it', () => {
    const told = [
      'budget, in the order in which it was said:',
      '1. 5,000 (confirmed; superseded since)',
      '2. 10,000 (confirmed, in the words "budget is (now) 10,000"; superseded since)',
      '3. 20,000 (confirmed; it holds now)',
    ].join('\n');
    expect(recollected([told], 'What was it before?')).toBe('It was 10,000 before, and is 20,000 now.');
    expect(recollected([told], '전에는 얼마였지?')).toBe('전에는 10,000, 지금은 20,000입니다.');
    expect(recollected(['1. 10,000 (confirmed; retracted since)'], 'What was it before?')).toBe(
      'It was 10,000 before.',
    );
    expect(recollected(['Nothing was said about budget in this conversation.'], '')).toBeUndefined();
  });
});
