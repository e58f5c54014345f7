import { isExact, reservedParams, thinks } from './params';

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

  it.each([
    ['anthropic', 'claude-sonnet-5', {}, false],
    ['anthropic', 'claude-sonnet-5', { thinking: { type: 'enabled', budget_tokens: 4000 } }, true],
    ['openai', 'gpt-4o', {}, false],
    ['openai', 'gpt-5.4', {}, true],
    ['openai', 'o3-mini', {}, true],
    ['openai', 'my-own', { reasoning_effort: 'low' }, true],
  ] as const)('%s %s with %j may think: %s', (provider, name, params, may) =>
    expect(thinks({ provider, name, params })).toBe(may),
  );
});
