import { createHash } from 'node:crypto';
import type { EventSourceMessage } from 'eventsource-parser';
import { type ProviderError, sortError } from './failures';
import { isRecord, parseStorable } from './json';
import { type FailureClass, ProviderFailure, type WireCall } from './port';
import { serverSentEvents } from './server-sent-events';

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface WireOptions {
  /** Milliseconds of silence, before the answer or within it, after which the call is given up. */
  readonly timeoutMs: number;
  readonly fetch: Fetch;
}

/** Characters of a provider's message that are kept: a proxy may answer with a page. */
const MOST_DETAIL = 2_000;

/** `fetch` itself gives up after 300 s of silence, so no longer wait could be kept. */
export const DEFAULT_TIMEOUT_MS = 300_000;

/** One format's part of a call. */
export interface Talk {
  /** Posts through the SDK, with its retries off. */
  post(fetch: Fetch, signal: AbortSignal): Promise<Response>;
  /** True where the event ends the answer. */
  onEvent(event: EventSourceMessage): boolean;
  /** What an error of the SDK says; undefined where it is none of the provider's. */
  errorOf(error: unknown): ProviderError | undefined;
  /** Throws `CutStream` where the answer has not come to its end. */
  assertWhole(): void;
  /** Text that has arrived. */
  partial(): string;
}

/** The stream ended before the answer did. */
export class CutStream extends Error {
  override readonly name = 'CutStream';
}

/** An error that the provider sent within a stream. */
export class ErrorInStream extends Error {
  override readonly name = 'ErrorInStream';
  constructor(readonly error: ProviderError) {
    super(error.message);
  }
}

class WrongBytes extends Error {
  override readonly name = 'WrongBytes';
}

/** Milliseconds that the server may take to close the stream once the answer is whole. */
const LINGER_MS = 1_000;

/** In so many parts silence is measured. */
const PARTS = 8;

/** Of a time in which this process itself stood still one part counts at most: what came meanwhile is still to be read. */
class Silence {
  private left = PARTS;
  private readonly timer: NodeJS.Timeout;

  constructor(timeoutMs: number, onSilence: () => void) {
    this.timer = setInterval(() => {
      this.left -= 1;
      if (this.left === 0) onSilence();
    }, timeoutMs / PARTS);
  }

  broken(): void {
    this.left = PARTS;
    this.timer.refresh();
  }

  end(): void {
    clearInterval(this.timer);
  }
}

/** Carries one call: posts the bytes, feeds the events of the answer to `talk`, and sorts whatever goes wrong. */
export async function carry(call: WireCall, options: WireOptions, talk: Talk): Promise<void> {
  const silent = new AbortController();
  const signal = AbortSignal.any([call.signal, silent.signal]);
  const silence = new Silence(options.timeoutMs, () => silent.abort());
  let lingering: NodeJS.Timeout | undefined;
  let wrongBytes: WrongBytes | undefined;
  let ended = false;
  const fetch: Fetch = async (url, init) => {
    wrongBytes = checkBytes(call, init?.body);
    if (wrongBytes !== undefined) throw wrongBytes;
    return options.fetch(url, init);
  };
  try {
    call.signal.throwIfAborted();
    const response = await talk.post(fetch, signal);
    silence.broken();
    for await (const event of serverSentEvents(await streamOf(response), () => silence.broken())) {
      if (ended || !talk.onEvent(event)) continue;
      // Read on for a moment, so that the connection can be used again.
      ended = true;
      lingering = setTimeout(() => silent.abort(), LINGER_MS);
    }
    talk.assertWhole();
  } catch (error) {
    if (ended && signal.aborted) return talk.assertWhole();
    if (wrongBytes !== undefined) {
      throw new ProviderFailure('invalid_request', wrongBytes.message, { retryable: false });
    }
    throw failureOf(error, talk, call, { silent: silent.signal.aborted, timeoutMs: options.timeoutMs });
  } finally {
    silence.end();
    clearTimeout(lingering);
  }
}

function checkBytes(call: WireCall, body: unknown): WrongBytes | undefined {
  if (!(body instanceof Uint8Array))
    return new WrongBytes('The body that was about to leave is not the bytes that were recorded.');
  const sha256 = createHash('sha256').update(body).digest('hex');
  if (sha256 === call.sha256) return undefined;
  return new WrongBytes(
    `The bytes about to leave have SHA-256 ${sha256}; recorded is ${call.sha256}. Nothing was sent.`,
  );
}

/** The body of a streamed answer. A server that answers 200 with an error in JSON, as some proxies do, has refused. */
async function streamOf(response: Response): Promise<ReadableStream<Uint8Array>> {
  if (response.body !== null && !/\bjson\b/.test(response.headers.get('content-type') ?? '')) {
    return response.body;
  }
  const text = await response.text();
  let answer: unknown;
  try {
    answer = parseStorable(text);
  } catch {
    answer = text;
  }
  const error = isRecord(answer) ? answer['error'] : undefined;
  if (error !== undefined) throw new ErrorInStream(describeError(error, response.headers));
  throw new CutStream('The provider answered without a stream.');
}

/** Half an event, as a proxy leaves it, is a cut stream too. */
export function parseEvent(data: string): unknown {
  try {
    return parseStorable(data);
  } catch {
    throw new CutStream('The stream broke off within an event.');
  }
}

/** An `error` object as both formats write it. */
export function describeError(error: unknown, headers?: Headers, status?: number): ProviderError {
  const fields = isRecord(error) ? error : {};
  const word = (key: string): string => {
    const value = fields[key];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  };
  const message = word('message') || (typeof error === 'string' ? error : JSON.stringify(error ?? 'no details'));
  const code = word('code');
  const inCode = status === undefined && /^[45]\d\d$/.test(code) ? Number(code) : status;
  return { status: inCode, type: word('type'), code, message: message.slice(0, MOST_DETAIL), headers };
}

function failureOf(
  error: unknown,
  talk: Talk,
  call: WireCall,
  { silent, timeoutMs }: { silent: boolean; timeoutMs: number },
): ProviderFailure {
  const partial = talk.partial();
  const fail = (
    reason: FailureClass,
    detail: string,
    more: Omit<ProviderFailure['more'], 'partial'>,
  ): ProviderFailure => new ProviderFailure(reason, detail, partial === '' ? more : { ...more, partial });
  if (call.signal.aborted) return fail('cancelled', 'The call was cancelled.', { retryable: false });
  if (silent) return fail('timeout', `Nothing was heard from the provider for ${timeoutMs} ms.`, { retryable: true });
  if (error instanceof CutStream) return fail('provider_error', error.message, { retryable: true });
  const said = error instanceof ErrorInStream ? error.error : talk.errorOf(error);
  if (said !== undefined) {
    const { reason, ...verdict } = sortError(said, Date.now());
    const { status } = said;
    return fail(reason, said.message, status === undefined ? verdict : { ...verdict, status });
  }
  const cause = innermost(error);
  const reason = /timed? ?out|timeout/i.test(`${cause.name} ${cause.message}`) ? 'timeout' : 'provider_error';
  return fail(reason, `The connection to the provider failed: ${cause.message}`, { retryable: true });
}

function innermost(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? innermost(error.cause) : error;
}
