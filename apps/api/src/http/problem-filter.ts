import { Catch, HttpException, Inject, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { UnreadableEvent } from '@palimpsest/conversation';
import { EventUnreadable, StoreUnavailable } from '@palimpsest/event-store';
import { describeError, isDatabaseAway } from '@palimpsest/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EDGE_CONFIG, type EdgeConfig } from './edge-config';
import { knownRoutes } from './known-routes';
import { invalid, Problem } from './problem';

/** Whatever is thrown leaves as problem+json. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(@Inject(EDGE_CONFIG) private readonly config: EdgeConfig) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (reply.sent || reply.raw.destroyed) return;
    sendProblem(reply, this.toProblem(thrown, request));
  }

  private toProblem(thrown: unknown, request: FastifyRequest): Problem {
    if (thrown instanceof Problem) return thrown;
    if (thrown instanceof HttpException && thrown.getStatus() < 500)
      return refusedByFramework(thrown.getStatus(), request, this.config);
    return unexpected(thrown, request.id, this.config.log);
  }
}

export function sendProblem(reply: FastifyReply, problem: Problem): void {
  void reply
    .code(problem.status)
    .headers(problem.headers)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(problem.body());
}

/** Logged with its place and without its message, which may quote what a person wrote. */
export function unexpected(thrown: unknown, requestId: string, log: EdgeConfig['log']): Problem {
  const { type, code, stack } = describeError(thrown);
  // What it says are ids, and a type's name.
  const reason = thrown instanceof UnreadableEvent ? thrown.message : undefined;
  if (thrown instanceof StoreUnavailable || isDatabaseAway(thrown)) {
    const isStore = thrown instanceof StoreUnavailable;
    const what = isStore && !isDatabaseAway(thrown.cause) ? 'event store (the log)' : 'database';
    // The store's own message quotes nothing; a driver's may.
    const reason = isStore ? thrown.message : undefined;
    log.warn({ requestId, failure: { type, code, reason } }, `a request failed since the ${what} cannot be reached`);
    return new Problem(
      'not_ready',
      `The ${what} cannot be reached at the moment. Send it again in a moment, with the same Idempotency-Key.`,
      { requestId },
    );
  }
  if (thrown instanceof EventUnreadable) {
    const { stream, revision, position } = thrown.place;
    log.error(
      { requestId, stream, revision, position },
      'a request met an event that cannot be read: run palimpsest verify',
    );
    return new Problem(
      'log_damaged',
      `An event that this needs (revision ${revision}) can't be read in the log any more.`,
      {
        requestId,
        revision: String(revision),
      },
    );
  }
  log.error({ requestId, failure: { type, code, reason, stack } }, 'a request failed unexpectedly');
  return new Problem('internal_error', 'The request failed here, not at your side. The log has more under this id.', {
    requestId,
  });
}

/** What Fastify itself refuses; its messages are not passed on, as some quote the request. */
function refusedByFramework(status: number, request: FastifyRequest, { maxBodyBytes }: EdgeConfig): Problem {
  switch (status) {
    case 404:
      return noRoute(request);
    case 408:
      return new Problem('request_timeout', 'The request did not arrive in time. Send it again.');
    case 413:
      return new Problem('payload_too_large', `The body is larger than ${maxBodyBytes} bytes.`, { maxBodyBytes });
    case 415:
      return notJson();
    default:
      return invalid('The request is malformed.');
  }
}

export const notJson = (): Problem =>
  new Problem('unsupported_media_type', 'Send JSON, with the header Content-Type: application/json.');

function noRoute(request: FastifyRequest): Problem {
  const allowed = knownRoutes(request.server).methodsOf(request.raw.url ?? '');
  if (allowed.length === 0) return new Problem('not_found', 'There is no such route. GET /openapi.json lists them.');
  return new Problem(
    'method_not_allowed',
    `This route takes ${allowed.join(', ')}.`,
    { allowed },
    { allow: allowed.join(', ') },
  );
}
