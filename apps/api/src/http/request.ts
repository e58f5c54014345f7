import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Caller, Idempotency } from '@palimpsest/application';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { v4 } from 'uuid';
import { invalid, Problem } from './problem';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every route that asks for a key. */
    caller?: Caller;
    /** Set where the request is about one turn: a turn is one trace. */
    traceId?: string;
  }
}

export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (!caller) throw new Problem('unauthorized', 'This route asks for an API key.');
  return caller;
});

/** From the `Idempotency-Key`; a random one where there is none. */
export const CurrentIdempotency = createParamDecorator((_: unknown, context: ExecutionContext): Idempotency => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  return { route: concreteRoute(request), key: idempotencyKey(request), body: request.body ?? null };
});

/** The same for every spelling of one path. */
function concreteRoute({ method, routeOptions, params }: FastifyRequest): string {
  const values = params as Record<string, string>;
  const path = (routeOptions.url ?? '').replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent((values[name] ?? '').toLowerCase()),
  );
  return `${method} ${path}`;
}

function idempotencyKey({ headers }: FastifyRequest): string {
  const key = headers['idempotency-key'];
  if (key === undefined) return v4();
  if (typeof key === 'string' && /^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw invalid('The Idempotency-Key must have 1 to 255 printable ASCII characters.');
}

/** A turn is one trace, and its id without dashes is the trace's id. */
export function traceTurn(request: FastifyRequest, reply: FastifyReply, turnId: string): void {
  const traceId = turnId.replaceAll('-', '');
  request.traceId = traceId;
  void reply.header('traceparent', `00-${traceId}-${traceId.slice(16)}-01`);
}
