import { createHash } from 'node:crypto';
import { digestOf, type StoredEvent } from '@palimpsest/event-store';
import type { StoredThing } from '../verify/read-everything';
import type { AnchoredHead } from './statement';

/** An event's digest, computed from what stands there; empty where it is no event any more. */
export function actualDigest(event: StoredEvent): string {
  try {
    return digestOf(event);
  } catch {
    return '';
  }
}

/** Bytes of the heads beside their names and digests: revision, quotes, commas. */
const HEAD_BYTES = 64;

/** What an anchor keeps of a range of the log: where its streams end, how many events it has, and which, in what order. */
export class EventRange {
  private readonly last = new Map<string, { readonly revision: bigint; readonly digest: string }>();
  private readonly hash = createHash('sha256');
  events = 0;
  /** About how many bytes the heads take. */
  bytes = 0;

  put({ stream, revision }: StoredThing['place'], digest: string): void {
    if (!this.last.has(stream)) this.bytes += Buffer.byteLength(stream) + digest.length + HEAD_BYTES;
    this.last.set(stream, { revision, digest });
    this.hash.update(JSON.stringify([stream, String(revision), digest])).update('\n');
    this.events += 1;
  }

  /** SHA-256 over a line of JSON per event, `[stream, revision, digest]`; base64url. Call it once, at the end. */
  order(): string {
    return this.hash.digest('base64url');
  }

  get streams(): Iterable<string> {
    return this.last.keys();
  }

  /** The last revision of each stream. */
  ends(): readonly (readonly [stream: string, revision: bigint])[] {
    return [...this.last].map(([stream, { revision }]) => [stream, revision]);
  }

  heads(): readonly AnchoredHead[] {
    return [...this.last]
      .map(([stream, { revision, digest }]): AnchoredHead => [stream, Number(revision), digest])
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
