import { isExact, reservedParams } from './params';

describe('an assistant’s params', () => {
  it('cannot say what comes from the conversation', () => {
    expect(reservedParams({ temperature: 0, messages: [], stream: false })).toEqual(['messages', 'stream']);
  });

  it('make a request inexact where the provider then changes what its model sees', () => {
    expect(isExact({ temperature: 0, store: true })).toBe(true);
    expect(isExact({ context_management: { edits: [] } })).toBe(false);
    expect(isExact({ previous_response_id: 'resp_1' })).toBe(false);
    expect(isExact({ truncation: null })).toBe(true);
  });
});
