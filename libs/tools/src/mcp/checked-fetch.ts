import { type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { checkedAddresses, type Lookup, lookupOf } from '../http/resolve';
import { AnswerTooLarge } from './answer-too-large';
import type { HeldArguments, HeldCall } from './held-arguments';
import type { Fetch } from './sdk';

export interface CheckedFetchOptions {
  readonly allowPrivate: boolean;
  readonly lookup: Lookup;
  readonly held: HeldArguments;
  /** Bytes of a response, or of one event where it is a stream of events. */
  readonly maxMessageBytes: number;
}

/** A server that sends us elsewhere, or answers in a way that was not asked for. */
export class AnswerRefused extends Error {
  override readonly name = 'AnswerRefused';
}

/** Milliseconds for what was read last to be understood, before its call is given up. */
const READ_MS = 500;

/**
 * A `fetch` that connects to the addresses that were checked and no others, follows no redirect and takes no compressed answer. A call is
 * told when the stream that its answer would come by has ended without one; the SDK would wait for its time to be over.
 */
export function checkedFetch(options: CheckedFetchOptions): Fetch {
  return async (input, init = {}) => {
    const url = new URL(input);
    const addresses = await checkedAddresses(url, options.allowPrivate, options.lookup);
    const { message, call } = typeof init.body === 'string' ? options.held.restore(init.body) : {};
    const body = message === undefined ? undefined : Buffer.from(message);
    const signals = [init.signal, call?.signal].filter((signal) => signal !== undefined && signal !== null);
    const response = await send(url, body, {
      method: init.method ?? 'GET',
      agent: false,
      lookup: lookupOf(addresses),
      signal: AbortSignal.any(signals),
      headers: {
        ...Object.fromEntries(new Headers(init.headers)),
        ...(body ? { 'content-length': body.length } : {}),
        'accept-encoding': 'identity',
        'user-agent': 'palimpsest',
      },
    });
    return responseOf(response, options.maxMessageBytes, call);
  };
}

function send(url: URL, body: Buffer | undefined, options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
    request.once('response', resolve);
    // After the response has come, a break shows in its stream too; without a listener here it would end the process.
    request.on('error', reject);
    request.end(body);
  });
}

function responseOf(response: IncomingMessage, maxBytes: number, call: HeldCall | undefined): Response {
  const { statusCode: status = 0, headers } = response;
  const encoding = (headers['content-encoding'] ?? 'identity').toLowerCase();
  if ((status >= 300 && status < 400) || encoding !== 'identity' || status < 200) {
    response.destroy();
    throw new AnswerRefused(
      status < 400 && status >= 300 ? 'redirects are not followed' : 'the answer has an unknown encoding',
    );
  }
  const isEvents = (headers['content-type'] ?? '').startsWith('text/event-stream');
  const isEmpty = status === 204 || status === 205;
  if (isEmpty) response.resume();
  const parts = isEvents ? events(response, maxBytes, call) : whole(response, maxBytes);
  const stream = Readable.toWeb(Readable.from(parts, { objectMode: false })) as ReadableStream<Uint8Array>;
  const single = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string]);
  return new Response(isEmpty ? null : stream, { status, headers: single });
}

async function* whole(response: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new AnswerTooLarge(maxBytes);
    yield chunk;
  }
}

async function* events(response: IncomingMessage, maxBytes: number, call?: HeldCall): AsyncGenerator<Buffer> {
  const size = new EventSize();
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (size.put(chunk) > maxBytes) throw new AnswerTooLarge(maxBytes);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof AnswerTooLarge || !size.resumable) call?.broke(error as Error);
    throw error;
  }
  if (!size.resumable && call)
    setTimeout(() => call.broke(new Error('The answer ended before its end.')), READ_MS).unref();
}

/** Counts the bytes since the last event of a stream ended, and knows whether its events have ids, by which it can be resumed. */
class EventSize {
  resumable = false;
  private bytes = 0;
  private tail = '';

  put(chunk: Buffer): number {
    // Only ASCII is looked for, and a line break may stand in two chunks.
    const text = this.tail + chunk.toString('latin1');
    this.resumable ||= /(^|[\r\n])id:/.test(text);
    const end = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\n\r\n'), text.lastIndexOf('\r\r'));
    this.bytes = end < 0 ? this.bytes + chunk.length : text.length - end;
    this.tail = text.slice(-3);
    return this.bytes;
  }
}
