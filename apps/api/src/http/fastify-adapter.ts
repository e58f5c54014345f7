import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import { v7 } from 'uuid';
import type { EdgeConfig } from './edge-config';
import { toJson } from './json';
import { rememberRoutes } from './known-routes';
import { invalid, Problem } from './problem';
import { notJson, sendProblem } from './problem-filter';
import { readJson } from './read-json';

/** Fastify as the edge needs it: JSON alone, read strictly, and every refusal a problem, also those before the first route. */
export function createFastifyAdapter({ maxBodyBytes }: Pick<EdgeConfig, 'maxBodyBytes'>): FastifyAdapter {
  const adapter = new FastifyAdapter({
    bodyLimit: maxBodyBytes,
    // For the request to arrive; an answer may take as long as it does.
    requestTimeout: 60_000,
    genReqId: () => v7(),
    // The edge says it itself, as a problem.
    return503OnClosing: false,
    frameworkErrors: refuseUnroutable,
    clientErrorHandler: refuseUnreadable,
  });
  const fastify = adapter.getInstance();
  fastify.removeAllContentTypeParsers();
  adapter.useBodyParser('application/json', false, { bodyLimit: maxBodyBytes }, (_request, body: Buffer, done) => {
    try {
      done(null, readJson(body));
    } catch (problem) {
      done(problem as Error);
    }
  });
  // Many clients name a media type of their own where they send no body; only a body must be JSON. It is refused unread.
  fastify.addContentTypeParser('*', (request, _body, done) =>
    request.headers['content-length'] === '0' ? done(null, undefined) : done(notJson()),
  );
  fastify.setReplySerializer((payload) => toJson(payload));
  rememberRoutes(fastify);
  return adapter;
}

/** A path that no route gets to see. An id that is too long for a route is an id that does not exist. */
function refuseUnroutable(error: { readonly code: string }, _request: FastifyRequest, reply: FastifyReply): void {
  const isTooLong = error.code === 'FST_ERR_MAX_PARAM_LENGTH';
  sendProblem(
    reply,
    isTooLong
      ? new Problem('not_found', 'There is nothing with such a long id.')
      : invalid('The path is not a valid URL path.'),
  );
}

/** A request that is no HTTP has no reply object: the answer is written by hand, and the connection ends. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) return void socket.destroy();
  const problem = unreadable(error.code);
  const body = toJson(problem.body());
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.status === 400 ? 'Bad Request' : 'Refused'}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function unreadable(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem('payload_too_large', 'The headers are too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request_timeout', 'The request did not arrive in time.');
  return invalid('The request is not valid HTTP.');
}
