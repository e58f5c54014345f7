import { createHmac, hkdfSync } from 'node:crypto';
import type { Json } from '../port';
import { contentText } from './canonical';
import { open, pack, seal, unpack, type Packed, type Place } from './envelope';

export const KEY_BYTES = 32;
/** 128 bits: enough for a digest that only its own key's holder can make and compare. */
const DIGEST_BYTES = 16;

const derive = (key: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `palimpsest/${purpose}/1`, KEY_BYTES));

/**
 * A digest that may stand in the clear: HMAC-SHA256 over the purpose and the bytes, its first 128 bits, base64url (22 characters). An
 * unkeyed digest of a short text gives the text away to anyone who can guess.
 */
export function keyedDigest(key: Uint8Array, purpose: string, bytes: string | Uint8Array): string {
  const digest = createHmac('sha256', key).update(purpose).update('\0').update(bytes).digest();
  return digest.subarray(0, DIGEST_BYTES).toString('base64url');
}

/** What one content key can do. Its three subkeys come by HKDF-SHA256; the key itself is not kept. */
export class ContentKeys {
  private readonly keys: { readonly seal: Buffer; readonly nonce: Buffer };
  private readonly digestKey: Buffer;

  constructor(
    readonly id: string,
    key: Uint8Array,
  ) {
    if (key.length !== KEY_BYTES) throw new RangeError(`A content key has ${KEY_BYTES} bytes, not ${key.length}.`);
    this.keys = { seal: derive(key, 'seal'), nonce: derive(key, 'nonce') };
    this.digestKey = derive(key, 'digest');
  }

  /** Seals JSON as compressed text. Rejects with `InvalidEvent` for what is not JSON. */
  async seal(place: Place, content: Json): Promise<string> {
    return this.sealPacked(place, await pack(Buffer.from(contentText(content))));
  }

  /** Rejects with `SealBroken`. */
  async open(place: Place, sealed: string): Promise<Json> {
    return JSON.parse((await unpack(this.openPacked(place, sealed))).toString()) as Json;
  }

  sealPacked(place: Place, packed: Packed): string {
    return seal(this.keys, place, packed);
  }

  /** Throws `SealBroken`. */
  openPacked(place: Place, sealed: string): Packed {
    return open(this.keys, place, sealed);
  }

  /** See `keyedDigest`. Purposes keep digests of one text in two places from being equal. */
  digest(purpose: string, bytes: string | Uint8Array): string {
    return keyedDigest(this.digestKey, purpose, bytes);
  }
}
