import { createHash } from 'node:crypto';
import type { EventSourceMessage } from 'eventsource-parser';
import { type ProviderError, sortError } from './failures';
import { isRecord, parseStorable } from './json';
import { ProviderFailure, type WireCall } from './port';
import { serverSentEvents } from './server-sent-events';

export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface WireOptions {
  /** Milliseconds of silence, before the answer or within it, after which the call is given up. */
  readonly timeoutMs: number;
  readonly fetch: Fetch;
}

/** `fetch` itself gives up after 300 s of silence, so no longer wait could be kept. */
export const DEFAULT_TIMEOUT_MS = 300_000;

/** One format's part of a call. */
export interface Talk {
  /** Posts through the SDK, with its retries off. */
  post(fetch: Fetch, signal: AbortSignal): Promise<Response>;
  onEvent(event: EventSourceMessage): void;
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

/** Carries one call: posts the bytes, feeds the events of the answer to `talk`, and sorts whatever goes wrong. */
export async function carry(call: WireCall, options: WireOptions, talk: Talk): Promise<void> {
  const silence = new AbortController();
  let wrongBytes: WrongBytes | undefined;
  const timer = setTimeout(() => silence.abort(), options.timeoutMs);
  const fetch: Fetch = async (url, init) => {
    wrongBytes = checkBytes(call, init?.body);
    if (wrongBytes !== undefined) throw wrongBytes;
    return options.fetch(url, init);
  };
  try {
    call.signal.throwIfAborted();
    const response = await talk.post(fetch, AbortSignal.any([call.signal, silence.signal]));
    timer.refresh();
    for await (const event of serverSentEvents(await streamOf(response))) {
      timer.refresh();
      talk.onEvent(event);
    }
    talk.assertWhole();
  } catch (error) {
    const partial = talk.partial();
    const more = partial === '' ? {} : { partial };
    if (wrongBytes !== undefined) {
      throw new ProviderFailure('invalid_request', wrongBytes.message, { retryable: false });
    }
    if (call.signal.aborted)
      throw new ProviderFailure('cancelled', 'The call was cancelled.', { retryable: false, ...more });
    if (silence.signal.aborted) {
      const detail = `Nothing was heard from the provider for ${options.timeoutMs} ms.`;
      throw new ProviderFailure('timeout', detail, { retryable: true, ...more });
    }
    throw failureOf(error, talk, more);
  } finally {
    clearTimeout(timer);
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
  return { status: inCode, type: word('type'), code, message, headers };
}

function failureOf(error: unknown, talk: Talk, more: { partial?: string }): ProviderFailure {
  if (error instanceof CutStream)
    return new ProviderFailure('provider_error', error.message, { retryable: true, ...more });
  const said = error instanceof ErrorInStream ? error.error : talk.errorOf(error);
  if (said !== undefined) {
    const { reason, ...verdict } = sortError(said, Date.now());
    return new ProviderFailure(reason, said.message, {
      ...verdict,
      ...(said.status === undefined ? {} : { status: said.status }),
      ...more,
    });
  }
  const cause = innermost(error);
  const reason = /timed? ?out|timeout/i.test(`${cause.name} ${cause.message}`) ? 'timeout' : 'provider_error';
  return new ProviderFailure(reason, `The connection to the provider failed: ${cause.message}`, {
    retryable: true,
    ...more,
  });
}

function innermost(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? innermost(error.cause) : error;
}
