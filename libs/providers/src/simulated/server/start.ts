import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isRecord } from '../../json';
import { checkAnthropic } from './anthropic-rules';
import { Conduct, refuse, requestIdOf, speak } from './conduct';
import { type Format, type Heard, hear } from './heard';
import { compact, sceneOf, think } from './mind';
import { checkOpenAi } from './openai-rules';
import { invalid, scriptedRefusal } from './refusal';
import { Refused } from './rules-common';
import { tokensIn, tokensOf } from './tokens';

export interface SimulatedModelOptions {
  /** Sees each request's body as it came over the socket. The answer waits for what it gives back. */
  readonly onRequest?: (bytes: Buffer, headers: IncomingHttpHeaders, path: string) => void | Promise<void>;
  /** Keeps each request in `captures`. */
  readonly capture?: boolean;
  /** Tokens that a request may hold. Default: no limit. A model named `...-8k` has 8,000. */
  readonly contextCap?: number;
}

export interface Capture {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface SimulatedModel {
  /** Base URL: `/v1/chat/completions` and `/v1/messages` stand below it. */
  readonly url: string;
  readonly port: number;
  readonly captures: readonly Capture[];
  close(): Promise<void>;
}

const ROUTES: ReadonlyMap<string, Format> = new Map([
  ['/v1/chat/completions', 'openai'],
  ['/v1/messages', 'anthropic'],
]);

/** Starts the simulated model on a free port of the loopback interface. It knows nothing but the request that it gets. */
export async function startSimulatedModel(options: SimulatedModelOptions = {}): Promise<SimulatedModel> {
  const captures: Capture[] = [];
  const attempts = new Map<string, number>();
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    serve(request, response, options, captures, attempts).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    captures,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  options: SimulatedModelOptions,
  captures: Capture[],
  attempts: Map<string, number>,
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  const path = request.url ?? '';
  if (options.capture === true) captures.push({ path, headers: request.headers, body });
  await options.onRequest?.(body, request.headers, path);
  const sha256 = createHash('sha256').update(body).digest('hex');
  const format = ROUTES.get(path.split('?')[0] as string) ?? 'openai';
  const requestId = requestIdOf(sha256);
  response.setHeader(format === 'openai' ? 'x-request-id' : 'request-id', requestId);
  try {
    const heard = listen(request, path, body, options);
    const scene = sceneOf(heard);
    const compacts = heard.compactAt !== null && tokensIn(heard) >= heard.compactAt;
    const reply = compacts ? compact(scene) : think(heard, scene);
    const spoken = { heard, reply, sha256, tokens: tokensOf(heard, reply) };
    await speak(response, spoken, new Conduct(scene.directives, scene.round, sha256, attempts));
  } catch (error) {
    if (response.headersSent || response.destroyed) throw error;
    const fault = { ...scriptedRefusal(format, 'provider_error'), message: String(error) };
    refuse(response, format, error instanceof Refused ? error.refusal : fault, requestId);
  }
}

/** Checks a request as the real providers do. */
function listen(request: IncomingMessage, path: string, bytes: Buffer, options: SimulatedModelOptions): Heard {
  const format = ROUTES.get(path.split('?')[0] as string);
  if (format === undefined)
    throw new Refused({ status: 404, type: 'not_found_error', code: null, message: `No route ${path}.` });
  if (request.method !== 'POST') {
    throw new Refused({
      status: 405,
      type: 'invalid_request_error',
      code: null,
      message: 'Only POST is allowed here.',
    });
  }
  const bearer = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1];
  const key = request.headers['x-api-key'] ?? bearer ?? '';
  if (key === '' || key === 'invalid') throw new Refused(scriptedRefusal(format, 'auth'));
  if (format === 'anthropic' && request.headers['anthropic-version'] === undefined) {
    throw new Refused(invalid('anthropic-version: header is required'));
  }
  const body = parse(bytes);
  if (format === 'openai') checkOpenAi(body);
  else checkAnthropic(body, String(request.headers['anthropic-beta'] ?? ''));
  const heard = hear(format, body);
  const named = /-(\d+)k$/.exec(heard.model)?.[1];
  const cap = named === undefined ? (options.contextCap ?? Infinity) : Number(named) * 1000;
  if (tokensIn(heard) > cap) throw new Refused(scriptedRefusal(format, 'context_overflow'));
  return heard;
}

function parse(bytes: Buffer): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refused(invalid('We could not parse the JSON body of your request.'));
  }
  if (!isRecord(body)) throw new Refused(invalid('The body of a request must be a JSON object.'));
  return body;
}
