import type { CommandKey } from '@palimpsest/conversation';
import { canonical, type ContentKeys } from '@palimpsest/event-store';
import { derivedId } from '@palimpsest/platform';
import type { Caller, Idempotency } from '../caller/caller';

/** The command's name and the digest of its body, keyed: a caller's key may hold anything. */
export function commandKey(keys: ContentKeys, caller: Caller, { route, key, body }: Idempotency): CommandKey {
  return {
    name: keys.digest('command-name', canonical([caller.tenantId, caller.actor, route, key])),
    digest: keys.digest('command-body', canonical(body ?? null)),
  };
}

/** The id of a stream that a command creates: two tries of one command make one stream. */
export function createdId(caller: Caller, { route, key }: Idempotency): string {
  return derivedId('created', caller.tenantId, caller.actor, route, key);
}
