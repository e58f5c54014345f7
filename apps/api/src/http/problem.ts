import type { Answer } from '@palimpsest/application';
import { problemKinds, type ProblemCode } from './problem-codes';

/** An answer of the kind `application/problem+json` (RFC 9457), on its way to the client. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** `detail` is a sentence of ours: it never quotes the request. */
  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly numbers: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(code);
    const { status, retryAfter } = problemKinds[code];
    this.status = status;
    this.headers = { ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }), ...headers };
  }

  body(): Record<string, unknown> {
    const { code, status, detail } = this;
    const { title } = problemKinds[code];
    return { ...this.numbers, type: `urn:palimpsest:problem:${code}`, title, status, code, detail };
  }
}

/** The value of an answer. A refusal is thrown, as the problem that it is for HTTP. */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  const { code, detail, numbers } = answer.refusal;
  throw new Problem(code, detail, numbers);
}

export const invalid = (detail: string, numbers?: Readonly<Record<string, unknown>>): Problem =>
  new Problem('validation_failed', detail, numbers);
