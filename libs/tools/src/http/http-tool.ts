import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { Tool, ToolResult, ToolRun } from '../port';
import { untilAborted } from '../until-aborted';
import { failed, isTimeout, neverSent, wordsOf } from './failure-words';
import { AddressRefused, checkedAddresses, lookupOf, systemLookup, type Lookup } from './resolve';

/** A tool of the operator's that is called over HTTP. */
export interface HttpToolConfig {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** http or https, without credentials. */
  readonly url: string;
  readonly effect: 'read' | 'write';
  readonly approval: boolean;
  /** Milliseconds from the first packet to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Signs each request: HMAC-SHA256 over `<palimpsest-timestamp>.<body>`, hex, in `palimpsest-signature: sha256=...`. */
  readonly secret?: string;
  /** Lets the host be one of this network. */
  readonly allowPrivate?: boolean;
}

export interface HttpToolOptions {
  /** UTF-8 bytes of an answer. */
  readonly maxToolResultBytes?: number;
  readonly lookup?: Lookup;
  readonly now?: () => Date;
}

/** Bytes of the body that the model is shown of an answer that is a failure. */
const maxErrorBody = 4 * 1024;

/**
 * Posts `{"toolCallId": ..., "arguments": ...}`, the arguments being the model's own JSON, byte for byte, with the tool call's id as
 * `idempotency-key`. The body of a 2xx answer is the result; anything else is a result with `isError`. No redirect is followed.
 */
export function createHttpTool(config: HttpToolConfig, options: HttpToolOptions = {}): Tool {
  const limit = options.maxToolResultBytes ?? 32 * 1024 * 1024;
  const lookup = options.lookup ?? systemLookup;
  const now = options.now ?? (() => new Date());
  const url = new URL(config.url);
  const unknownOutcome = config.effect === 'write' ? ' Whether it had its effect is not known.' : '';

  async function post(run: ToolRun, signal: AbortSignal): Promise<ToolResult> {
    const addresses = await untilAborted(checkedAddresses(url, config.allowPrivate ?? false, lookup), signal);
    const body = Buffer.from(
      `{"toolCallId":${JSON.stringify(run.toolCallId)},"arguments":${run.arguments.trim() === '' ? '{}' : run.arguments}}`,
    );
    const response = await send(url, body, {
      method: 'POST',
      agent: false,
      lookup: lookupOf(addresses),
      signal,
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        accept: 'application/json, text/*;q=0.9, */*;q=0.1',
        'accept-encoding': 'identity',
        'user-agent': 'palimpsest',
        'idempotency-key': run.toolCallId,
        ...signatureOf(body, config.secret, now()),
      },
    });
    return resultOf(response, limit);
  }

  return {
    definition: {
      type: 'http',
      name: config.name,
      description: config.description,
      inputSchema: config.inputSchema,
      effect: config.effect,
      approval: config.approval,
    },
    timeoutMs: config.timeoutMs,
    async run(run) {
      const timeout = AbortSignal.timeout(config.timeoutMs);
      try {
        return await post(run, AbortSignal.any([timeout, run.signal]));
      } catch (error) {
        if (error instanceof AddressRefused)
          return failed(`The tool was not called: ${error.message}. Its operator has to mend that.`);
        if (run.signal.aborted && !isTimeout(run.signal.reason))
          return failed(`The call was cancelled.${unknownOutcome}`);
        if (timeout.aborted || run.signal.aborted)
          return failed(`The tool gave no answer within ${config.timeoutMs} ms.${unknownOutcome}`);
        return failed(`${wordsOf(error)}${neverSent(error) ? ' It was not called.' : unknownOutcome}`);
      }
    },
  };
}

function signatureOf(body: Buffer, secret: string | undefined, now: Date): Record<string, string> {
  if (secret === undefined) return {};
  const timestamp = Math.floor(now.getTime() / 1000).toString();
  const signature = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  return { 'palimpsest-timestamp': timestamp, 'palimpsest-signature': `sha256=${signature}` };
}

function send(url: URL, body: Buffer, options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
    request.once('response', resolve);
    // After the response has come, a break shows in its stream too; without a listener here it would end the process.
    request.on('error', reject);
    request.end(body);
  });
}

async function resultOf(response: IncomingMessage, limit: number): Promise<ToolResult> {
  const status = response.statusCode ?? 0;
  const ok = status >= 200 && status < 300;
  const encoding = response.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    response.destroy();
    return failed('The tool answered in an encoding that was not asked for.');
  }
  if (status >= 300 && status < 400) {
    response.destroy();
    return failed(`The tool answered ${status}, a redirect; redirects are not followed.`);
  }
  const { bytes, complete } = await read(response, ok ? limit : maxErrorBody);
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  if (!ok) return failed(`The tool answered ${status}${text === '' ? '.' : `: ${text}${complete ? '' : '...'}`}`);
  if (!complete) return failed(`The tool's answer is larger than ${limit} bytes. It was not kept. Ask for less.`);
  return { text, isError: false };
}

async function read(response: IncomingMessage, limit: number): Promise<{ bytes: Buffer; complete: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop destroys the response, and with it the connection.
    if (length > limit) return { bytes: Buffer.concat(chunks).subarray(0, limit), complete: false };
  }
  return { bytes: Buffer.concat(chunks), complete: true };
}
