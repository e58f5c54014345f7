import { type EventStore, metaOf, type StoredEvent } from '@palimpsest/event-store';
import { LRUCache } from 'lru-cache';
import { actualDigest } from '../anchor/event-range';
import { thingAt } from './read-everything';

export interface Head {
  readonly revision: bigint;
  readonly digest: string;
}

/** Streams whose ends are remembered; of others the event before is read again. */
const REMEMBERED = 100_000;

/** Where each stream stands as of the walk. */
export class Heads {
  private readonly known = new LRUCache<string, Head>({ max: REMEMBERED });

  constructor(private readonly store: EventStore) {}

  peek(stream: string): Head | undefined {
    return this.known.get(stream);
  }

  set(stream: string, head: Head): void {
    this.known.set(stream, head);
  }

  /** Whether the event has its digest and follows the one that stood before it in its stream. */
  async isSound(event: StoredEvent, digest: string): Promise<boolean> {
    const { stream, revision } = event;
    const { digest: recorded, previousDigest } = metaOf(event);
    if (digest === '' || digest !== recorded) return false;
    const before = await this.before(stream, revision);
    return before === null ? previousDigest === null : before?.digest === previousDigest;
  }

  /** What the event at this revision follows: null for the first one; undefined where it is not there, or not yet. */
  private async before(stream: string, revision: bigint): Promise<Head | null | undefined> {
    const known = this.known.get(stream);
    if (known) return known.revision + 1n === revision ? known : undefined;
    if (revision === 0n) return null;
    const thing = await thingAt(this.store, stream, revision - 1n);
    return thing?.event ? { revision: revision - 1n, digest: actualDigest(thing.event) } : undefined;
  }
}
