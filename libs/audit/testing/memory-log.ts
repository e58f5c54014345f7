import { type EventPlace, InMemoryEventStore } from '@palimpsest/event-store';
import type { TamperableLog, Undo } from './tampering';

/** What the in-memory store holds of an event. */
export interface Entry {
  stream: string;
  revision: bigint;
  position: bigint;
  id: string;
  type: string;
  data: string;
  metadata: string;
}

interface Inside {
  readonly log: Entry[];
  readonly streams: Map<string, Entry[]>;
}

/** The in-memory store, with a way round it. */
export class MemoryLog implements TamperableLog {
  readonly store = new InMemoryEventStore();
  readonly densePositions = true;

  get entries(): Entry[] {
    return (this.store as unknown as Inside).log;
  }

  of(stream: string): Entry[] {
    return (this.store as unknown as Inside).streams.get(stream) ?? [];
  }

  async places(): Promise<readonly EventPlace[]> {
    return this.entries.map(({ stream, revision, position, id, type }) => ({ stream, revision, position, id, type }));
  }

  async flip({ position }: EventPlace, below: (limit: number) => number): Promise<Undo | null> {
    const entry = this.entries[Number(position)] as Entry;
    const before = { ...entry };
    const undo = async () => void Object.assign(entry, before);
    const texts = ['data', 'metadata', 'id', 'type'] as const;
    const sizes = texts.map((field) => entry[field].length);
    let at = below(sizes.reduce((sum, size) => sum + size, 0) + 4);
    for (const field of texts) {
      const text = entry[field];
      if (at < text.length) {
        const bit = below(7);
        const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit));
        entry[field] = text.slice(0, at) + flipped + text.slice(at + 1);
        return { what: `bit ${bit} of character ${at} of ${field}`, undo };
      }
      at -= text.length;
    }
    const bit = below(31);
    entry.revision ^= 1n << BigInt(bit);
    return { what: `bit ${bit} of the revision`, undo };
  }
}
