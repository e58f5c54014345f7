import type { ApiKeys, Caller } from '@palimpsest/application';
import type { FastifyRequest } from 'fastify';
import { Problem } from './problem';

/** All but the queries of projections, which a tenant asks. */
const isOfProjections = /^\/v1\/projections(?!\/[^/]+\/query$)/;

/**
 * Everything under /v1 acts for a tenant; metrics and projections are the operator's; health, the API's description and its UI are open. A
 * back-test takes both: it quotes what a tenant's conversations hold, and keeps a process at work.
 */
function rolesFor(route: string | undefined): Caller['roles'] {
  if (route === '/metrics' || isOfProjections.test(route ?? '')) return ['operator'];
  if (route === '/v1/backtests') return ['operator', 'tenant'];
  return route?.startsWith('/v1/') ? ['tenant'] : [];
}

/** Runs before the body is read, so that nobody without a key can have one parsed. */
export function authenticator(keys: ApiKeys): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const roles = rolesFor(request.routeOptions.url);
    if (roles.length === 0) return;
    const caller = await callerOf(request.headers.authorization, keys);
    const missing = roles.find((role) => !caller.roles.includes(role));
    if (missing) throw new Problem('forbidden', `This route asks for an API key with the role ${missing}.`);
    request.caller = caller;
  };
}

async function callerOf(authorization: string | undefined, keys: ApiKeys): Promise<Caller> {
  const secret = /^Bearer +([\x21-\x7e]{1,500}) *$/i.exec(authorization ?? '')?.[1];
  const caller = secret === undefined ? undefined : await keys.find(secret);
  if (caller) return caller;
  throw new Problem(
    'unauthorized',
    authorization === undefined
      ? 'Send an API key in the header Authorization: Bearer.'
      : 'The API key in the Authorization header is not known, or was revoked.',
    {},
    { 'www-authenticate': 'Bearer realm="palimpsest"' },
  );
}
