/** For whom a request acts, found by its API key. */
export interface Caller {
  readonly tenantId: string;
  /** An opaque id, never a name or an address. */
  readonly actor: string;
  readonly roles: readonly ('tenant' | 'operator')[];
}

/** What makes a command idempotent: the caller's key, and what it is a key for. */
export interface Idempotency {
  /** Method and concrete path. */
  readonly route: string;
  /** The caller's `Idempotency-Key`, or a random one. */
  readonly key: string;
  /** The body as received, canonical: another body under the same key is refused. */
  readonly body: unknown;
}
