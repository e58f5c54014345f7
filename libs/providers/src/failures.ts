import { type FailureClass } from './port';

/** What a provider said when it refused or broke off, in either format. */
export interface ProviderError {
  readonly status?: number | undefined;
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly headers?: Headers | undefined;
}

export interface Verdict {
  readonly reason: FailureClass;
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
}

const OVERFLOW =
  /context.?length|maximum context|context window|exceeds? (the )?(model'?s )?(maximum )?context|prompt is too long|input is too long|too many (input )?tokens/i;

const BY_WORD: Readonly<Record<string, Omit<Verdict, 'retryAfterMs'>>> = {
  context_length_exceeded: { reason: 'context_overflow', retryable: false },
  request_too_large: { reason: 'context_overflow', retryable: false },
  insufficient_quota: { reason: 'rate_limited', retryable: false },
  billing_error: { reason: 'rate_limited', retryable: false },
  rate_limit_error: { reason: 'rate_limited', retryable: true },
  rate_limit_exceeded: { reason: 'rate_limited', retryable: true },
  overloaded_error: { reason: 'overloaded', retryable: true },
  server_overloaded: { reason: 'overloaded', retryable: true },
  timeout_error: { reason: 'timeout', retryable: true },
  authentication_error: { reason: 'auth', retryable: false },
  invalid_api_key: { reason: 'auth', retryable: false },
  permission_error: { reason: 'auth', retryable: false },
  not_found_error: { reason: 'invalid_request', retryable: false },
};

const BY_STATUS: Readonly<Record<number, Omit<Verdict, 'retryAfterMs'>>> = {
  401: { reason: 'auth', retryable: false },
  402: { reason: 'rate_limited', retryable: false },
  403: { reason: 'auth', retryable: false },
  408: { reason: 'timeout', retryable: true },
  409: { reason: 'provider_error', retryable: true },
  413: { reason: 'context_overflow', retryable: false },
  429: { reason: 'rate_limited', retryable: true },
  503: { reason: 'overloaded', retryable: true },
  504: { reason: 'timeout', retryable: true },
  529: { reason: 'overloaded', retryable: true },
};

/** Sorts an error: the words of the provider first, since servers differ in their status codes, then the status. */
export function sortError(error: ProviderError, now: number): Verdict {
  const verdict = verdictOf(error);
  const told = error.headers?.get('x-should-retry');
  const retryable = told === 'false' ? false : verdict.retryable;
  const retryAfterMs = retryable && error.headers ? retryAfter(error.headers, verdict.reason, now) : undefined;
  return { ...verdict, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

function verdictOf({ status, type, code, message }: ProviderError): Omit<Verdict, 'retryAfterMs'> {
  const refused = status === undefined || (status >= 400 && status < 500 && status !== 429);
  if (refused && OVERFLOW.test(message)) return { reason: 'context_overflow', retryable: false };
  const known = BY_WORD[code] ?? BY_WORD[type];
  if (known !== undefined) return known;
  if (/overloaded/i.test(message) && (status === undefined || status >= 500)) {
    return { reason: 'overloaded', retryable: true };
  }
  if (status === undefined) {
    return type === 'invalid_request_error'
      ? { reason: 'invalid_request', retryable: false }
      : { reason: 'provider_error', retryable: true };
  }
  const byStatus = BY_STATUS[status];
  if (byStatus !== undefined) return byStatus;
  return status >= 500
    ? { reason: 'provider_error', retryable: true }
    : { reason: 'invalid_request', retryable: false };
}

/** Milliseconds to wait, as the provider hints: `retry-after-ms`, `retry-after` (seconds or a date), then the reset of a used-up limit. */
export function retryAfter(headers: Headers, reason: FailureClass, now: number): number | undefined {
  const exact = Number(headers.get('retry-after-ms') ?? NaN);
  if (Number.isFinite(exact) && exact >= 0) return Math.ceil(exact);
  const after = headers.get('retry-after');
  if (after !== null) {
    const wait = /^\s*\d+(\.\d+)?\s*$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now;
    if (Number.isFinite(wait)) return Math.max(0, Math.ceil(wait));
  }
  return reason === 'rate_limited' ? limitReset(headers, now) : undefined;
}

/** The longest reset among the limits that have nothing left: `x-ratelimit-reset-tokens: 6m0s`, `anthropic-ratelimit-tokens-reset: <time>`. */
function limitReset(headers: Headers, now: number): number | undefined {
  const waits: number[] = [];
  headers.forEach((value, name) => {
    const openai = /^x-ratelimit-reset-(\w+)$/.exec(name)?.[1];
    const anthropic = /^anthropic-ratelimit-(.+)-reset$/.exec(name)?.[1];
    const left =
      openai !== undefined
        ? headers.get(`x-ratelimit-remaining-${openai}`)
        : anthropic !== undefined
          ? headers.get(`anthropic-ratelimit-${anthropic}-remaining`)
          : null;
    if (left === null || Number(left) > 0) return;
    const wait = openai !== undefined ? duration(value) : Date.parse(value) - now;
    if (Number.isFinite(wait)) waits.push(Math.max(0, Math.ceil(wait)));
  });
  return waits.length === 0 ? undefined : Math.max(...waits);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function duration(text: string): number {
  if (!/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(text)) return NaN;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    total += Number(amount) * (UNITS[unit as string] as number);
  }
  return total;
}
