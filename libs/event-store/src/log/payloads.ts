import { createHash } from 'node:crypto';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import type { EventStore, JsonObject, NewEvent } from '../port';
import { canonical } from '../sealing/canonical';
import type { ContentKeys } from '../sealing/content-keys';
import { type Codec, type Packed, type Place, unpack } from '../sealing/envelope';
import { SealBroken } from '../sealing/errors';
import { appendUntilKnown, type UntilKnown } from './append-until-known';
import { digestOf } from './digest-chain';
import type { AppendContext } from './metadata';

/** Packed bytes in a chunk: as base64 in its event they stay well below the 1 MiB that an append may hold. */
export const CHUNK_BYTES = 512 * 1024;

/** Stands in an event in place of its sealed string, where that would be too large for an event. */
export interface PayloadReference {
  /** The chunks are the events of the stream `payload-<payload>`. */
  readonly payload: string;
  readonly codec: Codec;
  readonly chunks: number;
  /** Bytes of the content's text. */
  readonly length: number;
  /** SHA-256 over the sealed chunks, in order: an auditor without a key can check them. */
  readonly digest: string;
}

/** Keyed digest of the reference and the event that it stands in: no reference opens in the place of another. */
export type BoundReference = PayloadReference & { readonly binding: string };

const streamOf = (payload: string) => `payload-${payload}`;

const bindingOf = (keys: ContentKeys, place: Place, { payload, codec, chunks, length, digest }: PayloadReference) =>
  keys.digest(
    'payload',
    canonical([place.stream, place.id, place.type, place.field, payload, codec, chunks, length, digest]),
  );

export const bind = (keys: ContentKeys, place: Place, reference: PayloadReference): BoundReference => ({
  ...reference,
  binding: bindingOf(keys, place, reference),
});

/**
 * Writes packed bytes as chunks under their owner's key, one append a chunk, so that no more than one is in flight. An event that refers
 * to them comes after; where none ever does, they are read by nobody.
 */
export async function writePayload(
  store: EventStore,
  keys: ContentKeys,
  packed: Packed,
  length: number,
  context: AppendContext,
  appending: UntilKnown,
): Promise<PayloadReference> {
  const payload = uuidv4();
  const stream = streamOf(payload);
  const hash = createHash('sha256');
  let previousDigest: string | null = null;
  let chunks = 0;
  for (let at = 0; at < packed.body.length; at += CHUNK_BYTES, chunks += 1) {
    const revision = BigInt(chunks);
    const id = uuidv7();
    const type = 'PayloadChunkStored';
    const body = packed.body.subarray(at, at + CHUNK_BYTES);
    const sealed = keys.sealPacked({ stream, id, type, field: 'content' }, { codec: 'r1', body });
    const data: JsonObject = { owner: keys.id, sealed };
    const metadata: JsonObject = { ...context, schemaVersion: 1, previousDigest };
    const digest: string = digestOf({ stream, revision, id, type, data, metadata });
    const event: NewEvent = { id, type, data, metadata: { ...metadata, digest } };
    const expected = chunks === 0 ? 'no_stream' : revision - 1n;
    const answer = await appendUntilKnown(store, stream, expected, [event], appending);
    if (answer.outcome !== 'stored') throw new Error(`${stream} is ours alone, and someone else wrote to it.`);
    hash.update(sealed).update('\n');
    previousDigest = digest;
  }
  return { payload, codec: packed.codec, chunks, length, digest: hash.digest('base64url') };
}

/** The text that was packed. Rejects with `SealBroken`, naming the event that refers to it. */
export async function readPayload(
  store: EventStore,
  keys: ContentKeys,
  place: Place,
  reference: BoundReference,
): Promise<Buffer> {
  const broken = (detail: string) =>
    new SealBroken(place.stream, place.revision ?? null, `its payload ${reference.payload} ${detail}`);
  if (bindingOf(keys, place, reference) !== reference.binding) throw broken('is not the one that it was given');
  const hash = createHash('sha256');
  const parts: Uint8Array[] = [];
  for await (const { stream, id, type, data } of store.readStream(streamOf(reference.payload))) {
    const sealed = data['sealed'];
    if (typeof sealed !== 'string') throw broken('holds a chunk that is not sealed');
    hash.update(sealed).update('\n');
    parts.push(keys.openPacked({ stream, id, type, field: 'content' }, sealed).body);
  }
  if (parts.length !== reference.chunks) throw broken(`has ${parts.length} of ${reference.chunks} chunks`);
  if (hash.digest('base64url') !== reference.digest) throw broken('has other chunks than were written');
  const text = await unpack({ codec: reference.codec, body: Buffer.concat(parts) }, reference.length);
  if (text.length !== reference.length) throw broken(`has ${text.length} of ${reference.length} bytes`);
  return text;
}
