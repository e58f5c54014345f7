import type { FailureClass } from '../../port';
import type { Format } from './heard';

/** An error as the real providers word it. */
export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
}

export function invalid(message: string, code: string | null = null): Refusal {
  return { status: 400, type: 'invalid_request_error', code, message };
}

export function printRefusal(format: Format, { type, code, message }: Refusal, requestId: string): string {
  return JSON.stringify(
    format === 'openai'
      ? { error: { message, type, param: null, code } }
      : { type: 'error', error: { details: null, type, message }, request_id: requestId },
  );
}

type Scripted = Exclude<FailureClass, 'cancelled'>;

const REFUSALS: Readonly<Record<Format, Readonly<Record<Scripted, Refusal>>>> = {
  openai: {
    context_overflow: invalid(
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
      'context_length_exceeded',
    ),
    rate_limited: {
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: 'Rate limit reached for simulated in organization org-simulated on requests per min (RPM).',
    },
    overloaded: {
      status: 503,
      type: 'server_error',
      code: 'server_overloaded',
      message: 'The engine is currently overloaded, please try again later.',
    },
    timeout: { status: 504, type: 'server_error', code: null, message: 'The server took too long.' },
    auth: {
      status: 401,
      type: 'invalid_request_error',
      code: 'invalid_api_key',
      message: 'Incorrect API key provided.',
    },
    invalid_request: invalid('You asked for an invalid request.'),
    provider_error: {
      status: 500,
      type: 'server_error',
      code: null,
      message: 'The server had an error while processing your request. Sorry about that!',
    },
  },
  anthropic: {
    context_overflow: invalid('prompt is too long: 200151 tokens > 200000 maximum'),
    rate_limited: {
      status: 429,
      type: 'rate_limit_error',
      code: null,
      message: "This request would exceed your organization's rate limit.",
    },
    overloaded: { status: 529, type: 'overloaded_error', code: null, message: 'Overloaded' },
    timeout: { status: 504, type: 'timeout_error', code: null, message: 'The request timed out.' },
    auth: { status: 401, type: 'authentication_error', code: null, message: 'invalid x-api-key' },
    invalid_request: invalid('You asked for an invalid request.'),
    provider_error: { status: 500, type: 'api_error', code: null, message: 'Internal server error' },
  },
};

export function scriptedRefusal(format: Format, reason: string): Refusal {
  const known: Readonly<Record<string, Refusal>> = REFUSALS[format];
  return known[reason] ?? invalid(`There is no failure class "${reason}" to simulate.`);
}
