import { ServerCredentials, type ServerInterceptor, ServerInterceptingCall } from '@grpc/grpc-js';
import type { Certificates } from './certificates';
import { unauthenticated } from './refusals';

export interface Access {
  /** It speaks TLS alone. */
  readonly certificates: Certificates;
  /** Every call names this user, except those for gossip. */
  readonly user?: { readonly name: string; readonly password: string };
}

export function transportOf(access: Access | undefined): ServerCredentials {
  if (!access) return ServerCredentials.createInsecure();
  const { key, certificate } = access.certificates;
  return ServerCredentials.createSsl(null, [{ private_key: Buffer.from(key), cert_chain: Buffer.from(certificate) }]);
}

/** Refuses a call of anybody else before the server looks at it. Who asks for the members of the cluster is not known yet. */
export function guarded({ user }: Partial<Access> = {}): ServerInterceptor[] {
  if (!user) return [];
  const expected = `Basic ${Buffer.from(`${user.name}:${user.password}`).toString('base64')}`;
  return [
    ({ path }, call) =>
      new ServerInterceptingCall(call, {
        start: (next) =>
          next({
            onReceiveMetadata: (metadata, go) => {
              const isOpen = path.startsWith('/event_store.client.gossip.');
              if (isOpen || metadata.get('authorization')[0] === expected) return go(metadata);
              call.sendStatus(unauthenticated());
            },
          }),
      }),
  ];
}
