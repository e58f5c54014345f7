import type { Metrics } from '@palimpsest/application';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EdgeConfig } from './edge-config';

/**
 * One line and one measurement a request, once its answer is out or its client gone. Route patterns only: a path or a query may hold
 * what a person typed.
 */
export function accessLog(
  log: EdgeConfig['log'],
  metrics: Metrics,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (request, reply) => {
    void reply.header('x-request-id', request.id);
    reply.raw.once('close', () => {
      const route = request.is404 ? 'none' : (request.routeOptions.url ?? 'none');
      const { method } = request;
      const status = reply.raw.statusCode;
      metrics.httpDuration.observe({ method, route, status }, reply.elapsedTime / 1000);
      const line = {
        requestId: request.id,
        method,
        route,
        status,
        ms: Math.round(reply.elapsedTime),
        ...(request.caller && { tenantId: request.caller.tenantId, actor: request.caller.actor }),
        ...(request.traceId && { traceId: request.traceId }),
        ...(!reply.raw.writableFinished && { clientLeft: true }),
      };
      log.info(line, 'request');
    });
  };
}
