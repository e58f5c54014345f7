import { createHash } from 'node:crypto';

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** What came over the simulated model's socket: bytes until they were compared, digests for good. */
export class Captures {
  private readonly fresh = new Map<string, Buffer>();
  private readonly digests = new Set<string>();
  private readonly matched = new Set<string>();
  requests = 0;

  put(body: Buffer): void {
    const digest = sha256(body);
    this.requests += 1;
    this.digests.add(digest);
    if (!this.matched.has(digest)) this.fresh.set(digest, body);
  }

  has(digest: string): boolean {
    return this.digests.has(digest);
  }

  /** Whether these very bytes came over the socket; from then on their digest alone is kept. */
  match(bytes: Buffer): boolean {
    const digest = sha256(bytes);
    const captured = this.fresh.get(digest);
    if (captured && !captured.equals(bytes)) return false;
    if (this.fresh.delete(digest)) this.matched.add(digest);
    return this.matched.has(digest);
  }

  /** Requests that no node has owned up to. */
  get unmatched(): number {
    return this.fresh.size;
  }
}
