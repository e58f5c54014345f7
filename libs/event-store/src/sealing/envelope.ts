import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, brotliDecompress, brotliDecompressSync, constants } from 'node:zlib';
import type { Revision } from '../port';
import { canonical } from './canonical';
import { SealBroken } from './errors';

/**
 * The sealed envelope, one string:
 *
 *   <codec> "." base64url( nonce (12 bytes) || ciphertext || tag (16 bytes) )
 *
 * The codec names how the plain bytes became the ciphertext. A codec that was ever stored is readable for ever; a new way is a new name.
 *   b1   brotli, then AES-256-GCM
 *   r1   AES-256-GCM alone: for texts that brotli would not make smaller
 */
export type Codec = 'b1' | 'r1';

/** Where sealed bytes stand. They open there and nowhere else. */
export interface Place {
  readonly stream: string;
  /** The event's id, or the row's. */
  readonly id: string;
  readonly type: string;
  readonly field: string;
  /** For the error's message alone; the digest chain is what binds an event to its revision. */
  readonly revision?: Revision;
}

export interface SealKeys {
  /** 32 bytes each. */
  readonly seal: Uint8Array;
  readonly nonce: Uint8Array;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Up to here brotli takes less than a millisecond, which costs less than a trip to the thread pool. */
const SYNC_BYTES = 32 * 1024;

const compressLarge = promisify(brotliCompress);
const decompressLarge = promisify(brotliDecompress);

/** Brotli at quality 5: quality 9 takes ten times as long for nothing. */
async function compress(bytes: Uint8Array): Promise<Buffer> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return bytes.length <= SYNC_BYTES ? brotliCompressSync(bytes, { params }) : compressLarge(bytes, { params });
}

async function decompress(bytes: Uint8Array, maxBytes?: number): Promise<Buffer> {
  const limit = maxBytes === undefined ? {} : { maxOutputLength: maxBytes };
  return bytes.length <= SYNC_BYTES / 4 ? brotliDecompressSync(bytes, limit) : decompressLarge(bytes, limit);
}

const additionalData = (place: Place, codec: Codec): Buffer =>
  Buffer.from(canonical([place.stream, place.id, place.type, place.field, codec]));

/**
 * AES-GCM breaks where one nonce meets two texts. This one is an HMAC over all that goes into the cipher, so it repeats only where the
 * whole ciphertext repeats. No counter to keep, no luck to rely on. Canonical text holds no NUL, so the two parts can't run together.
 */
function syntheticNonce(key: Uint8Array, additional: Buffer, body: Uint8Array): Buffer {
  return createHmac('sha256', key).update(additional).update('\0').update(body).digest().subarray(0, NONCE_BYTES);
}

/** Bytes as they go into the cipher. */
export interface Packed {
  readonly codec: Codec;
  readonly body: Uint8Array;
}

/** Compressed where that helps. */
export async function pack(bytes: Uint8Array): Promise<Packed> {
  const compressed = await compress(bytes);
  return compressed.length < bytes.length ? { codec: 'b1', body: compressed } : { codec: 'r1', body: bytes };
}

/** Undoes `pack`. More than `maxBytes` is refused with a RangeError. */
export async function unpack({ codec, body }: Packed, maxBytes?: number): Promise<Buffer> {
  return codec === 'b1' ? decompress(body, maxBytes) : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

/** Characters of the envelope of so many packed bytes. */
export const envelopeLength = (bytes: number): number => 3 + Math.ceil(((NONCE_BYTES + bytes + TAG_BYTES) * 4) / 3);

export function seal(keys: SealKeys, place: Place, { codec, body }: Packed): string {
  const additional = additionalData(place, codec);
  const nonce = syntheticNonce(keys.nonce, additional, body);
  const cipher = createCipheriv('aes-256-gcm', keys.seal, nonce).setAAD(additional);
  const parts = [nonce, cipher.update(body), cipher.final(), cipher.getAuthTag()];
  return `${codec}.${Buffer.concat(parts).toString('base64url')}`;
}

/** What was sealed. Throws `SealBroken` if a bit of the string, of the place or of the key is another. */
export function open(keys: SealKeys, place: Place, sealed: string): Packed {
  const broken = (detail: string) => new SealBroken(place.stream, place.revision ?? null, detail);
  const codec = sealed.slice(0, sealed.indexOf('.'));
  if (codec !== 'b1' && codec !== 'r1') throw broken('its codec is not one that we know');
  const text = sealed.slice(codec.length + 1);
  const bytes = Buffer.from(text, 'base64url');
  // Base64 has several spellings of the same bytes (padding, spare bits, skipped characters); only ours is the one that was stored.
  if (bytes.toString('base64url') !== text) throw broken('its bytes are not base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw broken('it is too short');
  const decipher = createDecipheriv('aes-256-gcm', keys.seal, bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(additionalData(place, codec)).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const body = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    return { codec, body };
  } catch {
    throw broken('its bytes, its place or its key are not the ones that were sealed');
  }
}
