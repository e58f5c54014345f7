import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { canonical } from '../sealing/canonical';

/**
 * A wrapped key, 61 bytes: version 1, a random nonce (12), the key (32) under AES-256-GCM, the tag (16). Bound to its own id and to the
 * wrapping key's, so that no row can stand in for another.
 */
const VERSION = 1;
const TAG_AT = 45;
const LENGTH = 61;

const bound = (id: string, wrappedBy: string) => Buffer.from(canonical(['key', id, wrappedBy]));

export function wrapKey(key: Uint8Array, id: string, wrappedBy: string, wrapping: Uint8Array): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', wrapping, nonce).setAAD(bound(id, wrappedBy));
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()]);
}

/** Null where the bytes are not those that were wrapped, or the wrapping key is another. */
export function unwrapKey(wrapped: Uint8Array, id: string, wrappedBy: string, wrapping: Uint8Array): Buffer | null {
  if (wrapped.length !== LENGTH || wrapped[0] !== VERSION) return null;
  const decipher = createDecipheriv('aes-256-gcm', wrapping, wrapped.subarray(1, 13), { authTagLength: 16 });
  decipher.setAAD(bound(id, wrappedBy)).setAuthTag(wrapped.subarray(TAG_AT));
  try {
    return Buffer.concat([decipher.update(wrapped.subarray(13, TAG_AT)), decipher.final()]);
  } catch {
    return null;
  }
}

/** Names an installation's key without giving it away: a random 256-bit key can't be guessed from its hash. */
export const installationKeyId = (key: Uint8Array): string =>
  `installation-${createHash('sha256').update('palimpsest/installation/1\0').update(key).digest('hex').slice(0, 16)}`;

/** Whether what wraps a key is an installation's, and no other row. */
export const hangsOnInstallation = (wrappedBy: string): boolean => wrappedBy.startsWith('installation-');
