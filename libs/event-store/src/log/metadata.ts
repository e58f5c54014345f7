import type { JsonObject } from '../port';

/** The key under which a command had its effect; keyed digests, both of them (PROTOCOL.md, K1). */
export interface EventKey {
  readonly name: string;
  readonly digest: string;
}

/** What the edge knows about a command, and every event that it made carries. */
export interface AppendContext {
  readonly tenantId: string;
  /** An opaque id, never a name or an address. */
  readonly actor: string;
  readonly correlationId: string;
  /** The event that led to the command; null where a person did. */
  readonly causationId: string | null;
  /** UTC, ISO 8601. For people: order comes from revision and position. */
  readonly occurredAt: string;
}

export interface EventMeta extends AppendContext {
  /** Of the event's type. */
  readonly schemaVersion: number;
  readonly key?: EventKey;
  /** SHA-256 over the whole event but itself: see `digestOf`. */
  readonly digest: string;
  /** The digest of the event before it in its stream; null for the first. */
  readonly previousDigest: string | null;
}

/** The metadata of an event that our codec wrote. */
export const metaOf = (event: { readonly metadata: JsonObject }): EventMeta => event.metadata as unknown as EventMeta;
