import { type ProviderError, retryAfter, sortError } from './failures';

const NOW = Date.parse('2026-11-30T00:00:00Z');

function error(status: number | undefined, message: string, type = '', code = ''): ProviderError {
  return { status, type, code, message };
}

describe('an error of a provider is sorted', () => {
  it.each<[string, ProviderError, string, boolean]>([
    [
      'OpenAI: context',
      error(400, '...', 'invalid_request_error', 'context_length_exceeded'),
      'context_overflow',
      false,
    ],
    ['vLLM: context', error(400, "This model's maximum context length is 4096 tokens."), 'context_overflow', false],
    [
      'Anthropic: prompt',
      error(400, 'prompt is too long: 200151 tokens > 200000 maximum', 'invalid_request_error'),
      'context_overflow',
      false,
    ],
    [
      'Anthropic: with output',
      error(400, 'input length and `max_tokens` exceed context limit: 1 + 2 > 2', 'invalid_request_error'),
      'context_overflow',
      false,
    ],
    ['Anthropic: body', error(413, 'Request exceeds the maximum size', 'request_too_large'), 'context_overflow', false],
    ['rate', error(429, 'Rate limit reached', 'requests', 'rate_limit_exceeded'), 'rate_limited', true],
    [
      'rate, with a word on tokens',
      error(429, 'too many tokens per minute', 'tokens', 'rate_limit_exceeded'),
      'rate_limited',
      true,
    ],
    [
      'quota',
      error(429, 'You exceeded your current quota', 'insufficient_quota', 'insufficient_quota'),
      'rate_limited',
      false,
    ],
    ['credit', error(402, 'Insufficient credits'), 'rate_limited', false],
    ['Anthropic: overloaded', error(529, 'Overloaded', 'overloaded_error'), 'overloaded', true],
    ['overloaded in a 500', error(500, 'The model is overloaded'), 'overloaded', true],
    ['unavailable', error(503, 'Service unavailable'), 'overloaded', true],
    ['gateway timeout', error(504, 'upstream'), 'timeout', true],
    ['bad gateway', error(502, '<html>'), 'provider_error', true],
    ['key', error(401, 'Incorrect API key provided', 'invalid_request_error', 'invalid_api_key'), 'auth', false],
    ['permission', error(403, 'no access', 'permission_error'), 'auth', false],
    [
      'model',
      error(404, 'The model does not exist', 'invalid_request_error', 'model_not_found'),
      'invalid_request',
      false,
    ],
    ['invalid', error(400, 'Invalid value', 'invalid_request_error'), 'invalid_request', false],
    ['unprocessable', error(422, 'detail'), 'invalid_request', false],
    ['in a stream: overloaded', error(undefined, 'Overloaded', 'overloaded_error'), 'overloaded', true],
    ['in a stream: server', error(undefined, 'The server had an error', 'server_error'), 'provider_error', true],
    ['in a stream: no word', error(undefined, 'oops'), 'provider_error', true],
  ])('%s', (_name, said, reason, retryable) => {
    expect(sortError(said, NOW)).toEqual({ reason, retryable });
  });

  it('is not tried again where the provider says so', () => {
    const headers = new Headers({ 'x-should-retry': 'false', 'retry-after': '3' });
    expect(sortError({ ...error(500, 'no'), headers }, NOW)).toEqual({ reason: 'provider_error', retryable: false });
  });
});

describe('the wait that a provider hints at', () => {
  it.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Mon, 30 Nov 2026 00:00:05 GMT' }, 5000],
    [{ 'retry-after': 'Mon, 30 Nov 2020 00:00:05 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0.5s' }, 360_500],
    [{ 'x-ratelimit-remaining-tokens': '7', 'x-ratelimit-reset-tokens': '6m0s' }, undefined],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '20ms' }, 20],
    [
      {
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-30T00:00:07Z',
      },
      7000,
    ],
    [{}, undefined],
  ])('%j', (headers, expected) => {
    expect(retryAfter(new Headers(headers), 'rate_limited', NOW)).toBe(expected);
  });
});
