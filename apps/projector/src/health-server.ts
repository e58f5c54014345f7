import { type Check, listenWhereConfigured, urlOf } from '@palimpsest/installation';
import type { Config, Logger } from '@palimpsest/platform';
import { once } from 'node:events';
import { createServer, STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';

export interface Health {
  checks(): Promise<Readonly<Record<string, Check>>>;
  /** In the text format of Prometheus. */
  metrics(): Promise<string>;
  /** Whether an API key has the role that metrics ask for. */
  isOperator(secret: string): Promise<boolean>;
}

export interface HealthServer {
  /** `http://host:port`, as bound. */
  readonly url: string;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly type: 'application/json' | 'application/problem+json' | 'text/plain; version=0.0.4; charset=utf-8';
  readonly body: string;
}

/** The three routes of every process of an installation: `/healthz`, `/readyz` and `/metrics`, with the same rules as an api process's. */
export async function serveHealth(config: Config, health: Health, log: Logger): Promise<HealthServer> {
  const server = createServer((request, response) => {
    answer(request, health)
      .catch((err: unknown) => {
        log.error({ err }, 'a request failed unexpectedly');
        return problem(500, 'internal_error', 'The request failed here, not at your side. The log says more.');
      })
      .then((given) => send(response, given))
      .catch((err: unknown) => log.warn({ err }, 'an answer could not be sent'));
  });
  await listenWhereConfigured(config, async (port, host) => {
    server.listen(port, host);
    await once(server, 'listening');
  });
  return {
    url: urlOf(server),
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(request: IncomingMessage, health: Health): Promise<Answer> {
  const [path] = (request.url ?? '').split('?');
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return problem(405, 'method_not_allowed', 'This process answers GET alone.');
  switch (path) {
    case '/healthz':
      return json({ status: 'ok' });
    case '/readyz':
      return readyz(await health.checks());
    case '/metrics':
      return metrics(request, health);
    default:
      return problem(404, 'not_found', 'A projector serves /healthz, /readyz and /metrics alone.');
  }
}

function readyz(checks: Readonly<Record<string, Check>>): Answer {
  if (Object.values(checks).every(({ ok }) => ok)) return json({ ready: true, checks });
  return problem(503, 'not_ready', 'This process cannot project now: see the checks.', { ready: false, checks });
}

async function metrics({ headers }: IncomingMessage, health: Health): Promise<Answer> {
  const secret = /^Bearer +([\x21-\x7e]{1,500}) *$/i.exec(headers.authorization ?? '')?.[1];
  if (secret === undefined || !(await health.isOperator(secret)))
    return problem(401, 'unauthorized', 'Send an API key with the role operator in the header Authorization: Bearer.');
  return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: await health.metrics() };
}

const json = (body: object): Answer => ({ status: 200, type: 'application/json', body: JSON.stringify(body) });

function problem(status: number, code: string, detail: string, more: object = {}): Answer {
  const body = { ...more, type: `urn:palimpsest:problem:${code}`, title: STATUS_CODES[status], status, code, detail };
  return { status, type: 'application/problem+json', body: JSON.stringify(body) };
}

function send(response: ServerResponse, { status, type, body }: Answer): void {
  response
    .writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      ...(status === 401 && { 'www-authenticate': 'Bearer realm="palimpsest"' }),
    })
    .end(response.req.method === 'HEAD' ? undefined : body);
}
