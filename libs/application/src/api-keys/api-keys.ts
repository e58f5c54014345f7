import type { Caller } from '../caller/caller';

/** Finds for whom a request acts, by the secret that it carries. */
export abstract class ApiKeys {
  /** Undefined: no such key, or one that was revoked. A revocation may take 10 s to be seen. */
  abstract find(secret: string): Promise<Caller | undefined>;
}
