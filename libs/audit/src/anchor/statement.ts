import { createHash } from 'node:crypto';
import { canonical } from '@palimpsest/event-store';
import { type AnchorPublicKey, type SigningKey, verifies } from './signing-key';

/** All anchors of an installation. An anchor's number is the revision of its event. */
export const ANCHOR_STREAM = 'audit-anchors';
export const ANCHOR_TYPE = 'AnchorSigned';

/** Where a stream ended at the anchor's position: its name, the revision of its last event, and the digest of that event. */
export type AnchoredHead = readonly [stream: string, revision: number, digest: string];

/** What an anchor says of the events after one position, up to another one. Positions are decimal strings. */
export interface AnchorStatement {
  readonly version: 1;
  /** From 0, without gaps. */
  readonly number: number;
  /** Digest of the anchor before it. */
  readonly previous: string | null;
  /** The position that the anchor before it reached; "-1" for the first. */
  readonly after: string;
  /** The position of the last event that this one covers. */
  readonly to: string;
  /** How many events there are in that range, and a digest over all of them in the order of the log: see `EventRange`. */
  readonly events: number;
  readonly order: string;
  /** Of each stream that moved in that range, by name. */
  readonly heads: readonly AnchoredHead[];
  /** UTC, ISO 8601. For people. */
  readonly at: string;
}

/** A line of an anchor file, the body of a POST, and the data of an `AnchorSigned`: the very same object. */
export interface SignedAnchor {
  readonly statement: AnchorStatement;
  readonly key: AnchorPublicKey;
  /** Ed25519 over the statement's canonical text (RFC 8785) behind a line that says what it is; base64url. */
  readonly signature: string;
}

const signedText = (statement: AnchorStatement): Buffer =>
  Buffer.from(`palimpsest/anchor/1\n${canonical(statement)}`, 'utf8');

export function signAnchor(statement: AnchorStatement, key: SigningKey): SignedAnchor {
  return { statement, key: key.publicKey, signature: key.sign(signedText(statement)) };
}

/** SHA-256, base64url, over the whole signed anchor: what the next one names as the one before it. */
export const digestOfAnchor = (anchor: SignedAnchor): string =>
  createHash('sha256').update(canonical(anchor)).digest('base64url');

/** Whether the key that the anchor names has signed just this. Whether that key is to be trusted is another question. */
export function isSigned({ statement, key, signature }: SignedAnchor): boolean {
  try {
    return verifies(key, signedText(statement), signature);
  } catch {
    return false;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isPosition = (value: unknown): value is string => isText(value) && /^(-1|\d{1,20})$/.test(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Null for what has not the shape of an anchor. */
export function parseAnchor(value: unknown): SignedAnchor | null {
  const anchor = value as { readonly [K in keyof SignedAnchor]?: unknown } | null;
  if (typeof anchor !== 'object' || anchor === null) return null;
  const statement = anchor.statement as { readonly [K in keyof AnchorStatement]?: unknown } | null;
  const key = anchor.key as { readonly [K in keyof AnchorPublicKey]?: unknown } | null;
  const fits =
    isText(anchor.signature) &&
    isText(key?.id) &&
    isText(key.bytes) &&
    statement?.version === 1 &&
    isCount(statement.number) &&
    (statement.previous === null || isText(statement.previous)) &&
    isPosition(statement.after) &&
    isPosition(statement.to) &&
    isCount(statement.events) &&
    isText(statement.order) &&
    isText(statement.at) &&
    Array.isArray(statement.heads) &&
    statement.heads.every(
      (head) => Array.isArray(head) && head.length === 3 && isText(head[0]) && isCount(head[1]) && isText(head[2]),
    );
  return fits ? (anchor as unknown as SignedAnchor) : null;
}
