import { contextChoice, type ContextWanted } from './context';

const model = { inputCap: 64_000 };
const chosen = (wanted: ContextWanted, of = model) => {
  const made = contextChoice(wanted, of);
  return 'choice' in made ? made.choice : made.problem;
};

describe('the context of an assistant', () => {
  it('has by default a window of 24 messages that is cut to 12, and gives way at 70 % of the input cap, down to 40 %', () => {
    expect(chosen({})).toEqual({
      window: { messages: 24, keep: 12 },
      pressure: { above: 0.7, below: 0.4 },
      folds: 'turn_end',
      summaries: { maxTokens: 1_000, totalTokens: 6_000 },
    });
  });

  it('has each part that null turns off left out, and each number as it was asked for', () => {
    expect(chosen({ window: null, pressure: null })).toMatchObject({ window: null, pressure: null });
    expect(chosen({ window: { keep: 4 }, everyTurns: 5 })).toMatchObject({
      window: { messages: 24, keep: 4 },
      everyTurns: 5,
    });
  });

  it('has shorter summaries where the model takes less', () => {
    expect(chosen({}, { inputCap: 8_000 })).toMatchObject({ summaries: { maxTokens: 400, totalTokens: 2_400 } });
    expect(chosen({}, { inputCap: 1_000 })).toMatchObject({ summaries: { maxTokens: 200 } });
  });

  it.each<[ContextWanted, RegExp]>([
    [{ window: { messages: 12 } }, /keeps 12 messages of 12/],
    [{ pressure: { above: 0.3 } }, /below is 0.4/],
    [{ summaries: { maxTokens: 500, totalTokens: 400 } }, /totalTokens is 400, and one summary may have 500/],
  ])('cannot be %j', (wanted, why) => expect(chosen(wanted)).toMatch(why));
});
