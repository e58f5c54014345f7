import { attest, quoteStands } from '@palimpsest/dialogue-state';

describe('quoted words', () => {
  it.each([
    ['budget is 20,000', 'So my Budget  is 20,000.'],
    ['예산', '예산은 2만원이에요'],
    ['예산은'.normalize('NFD'), '예산은 2만원이에요'],
    ['２만원', '2만원으로 해 주세요'],
    ["I don't", 'I don’t want it'],
    ['café', 'At the CAFE\u0301!'],
    ['20,000', '20,000원'],
    ['price 20', 'at a price 20.'],
    ['😀 ok', 'fine 😀 ok'],
  ])('%p stand in %p', (quote, text) => expect(quoteStands(quote, text)).toBe(true));

  it.each([
    ['10', 'my budget is 10,000'],
    ['10', '10만원'],
    ['20', '20k at most'],
    ['000', '10,000'],
    ['5', '10.5'],
    ['art', 'a start'],
    ['budget is 30,000', 'my budget is 20,000'],
    ['', 'anything'],
    [' , ', 'a , b'],
  ])('%p do not stand in %p', (quote, text) => expect(quoteStands(quote, text)).toBe(false));

  it('are found behind a place where they only seem to stand', () => {
    expect(quoteStands('10', '10,000 or 110 or 10 of them')).toBe(true);
  });

  it('make a claim the user’s own only where they stand in the question', () => {
    expect(attest('user', 'budget is 20', 'my budget is 20')).toBe('user');
    expect(attest('user', 'budget is 30', 'my budget is 20')).toBe('model');
    expect(attest('rule', undefined, 'my budget is 20')).toBe('model');
    expect(attest('client', undefined, '')).toBe('client');
  });
});
