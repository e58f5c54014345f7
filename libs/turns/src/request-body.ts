import { createHash } from 'node:crypto';
import { type RenderedRequest, wireBytes } from '@palimpsest/context';
import { RequestTooLarge } from './request-too-large';

/** The bytes of a request, kept from its assembly to its call. */
export interface RequestBody {
  readonly provider: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Throws `RequestTooLarge` above so many bytes. */
export function requestBody(
  { head, messages, tail, path, headers }: RenderedRequest,
  provider: string,
  maxBytes: number,
): RequestBody {
  const chunks = [head, ...messages, tail].map(wireBytes);
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  if (length > maxBytes) throw new RequestTooLarge(length, maxBytes);
  const bytes = Buffer.concat(chunks, length);
  return { provider, bytes, path, headers, sha256: createHash('sha256').update(bytes).digest('hex') };
}
