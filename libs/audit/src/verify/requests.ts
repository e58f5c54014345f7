import { type EventStore, type JsonObject, KeyLost, Sealed, type StoredEvent } from '@palimpsest/event-store';
import { LRUCache } from 'lru-cache';
import { type EventReader, Replayer, type RequestPlace, type RequestPlaces } from '../replay';

type Record = Awaited<ReturnType<EventReader['at']>>[number];

/** Characters of opened contents that are remembered, and requests whose places are. */
const REMEMBERED_CHARACTERS = 32 * 1024 * 1024;
const REMEMBERED_PLACES = 500_000;

/**
 * Puts requests together again from the log alone, without any read model, in the order of a walk. The requests of one conversation repeat
 * each other, so what was opened for one is remembered for the next.
 */
export class Requests {
  private readonly places: StreamPlaces;
  private readonly replayer: Replayer;

  constructor(store: EventStore, log: EventReader) {
    this.places = new StreamPlaces(store);
    this.replayer = new Replayer(new RememberingReader(log), this.places);
  }

  /** Null: it has the digest that was recorded. A sentence: what is wrong. Undefined: a key that it needs is gone. */
  async check({ stream, revision, data }: StoredEvent): Promise<string | null | undefined> {
    const conversationId = stream.slice('conversation-'.length);
    const nodeId = nodeOf(data);
    this.places.note(conversationId, nodeId, revision);
    // An imported node: its request was never ours, and nothing is recorded that it could differ from.
    if (data['provenance'] !== undefined) return null;
    try {
      const { verified } = await this.replayer.replay(conversationId, nodeId, revision);
      return verified ? null : `The request of node ${nodeId} does not have the digest that was recorded.`;
    } catch (error) {
      if (error instanceof Sealed || error instanceof KeyLost) return undefined;
      const reason = error instanceof Error ? error.message : String(error);
      return `The request of node ${nodeId} can't be put together: ${reason}`;
    }
  }
}

/** What one stream says of where requests stand. */
interface Places {
  readonly requests: Map<string, bigint>;
  /** The conversation from which this one grows. */
  readonly source: string | null;
}

/** Where the requests of nodes stand, by their stream and those from which it grows. */
class StreamPlaces implements RequestPlaces {
  private readonly known = new LRUCache<string, Places>({
    maxSize: REMEMBERED_PLACES,
    sizeCalculation: ({ requests }) => requests.size + 1,
  });

  constructor(private readonly store: EventStore) {}

  note(conversationId: string, nodeId: string, revision: bigint): void {
    const places = this.known.get(conversationId);
    // One whose start was not walked is read when something of it is asked for.
    if (!places) return;
    places.requests.set(nodeId, revision);
    this.known.set(conversationId, places);
  }

  async requests(nodeIds: readonly string[], from: string): Promise<ReadonlyMap<string, RequestPlace>> {
    const found = new Map<string, RequestPlace>();
    for (let conversationId: string | null = from; conversationId !== null && found.size < nodeIds.length;) {
      const places: Places = this.known.get(conversationId) ?? (await this.read(conversationId));
      this.known.set(conversationId, places);
      for (const id of nodeIds) {
        const revision = places.requests.get(id);
        if (revision !== undefined) found.set(id, { conversationId, revision });
      }
      conversationId = places.source;
    }
    return found;
  }

  private async read(conversationId: string): Promise<Places> {
    const requests = new Map<string, bigint>();
    let source: string | null = null;
    for await (const { type, data, revision } of this.store.readStream(`conversation-${conversationId}`)) {
      if (type === 'CallRequested') requests.set(nodeOf(data), revision);
      if (type === 'ConversationStarted') source = sourceOf(data);
    }
    return { requests, source };
  }
}

class RememberingReader implements EventReader {
  private readonly known = new LRUCache<string, Record>({
    maxSize: REMEMBERED_CHARACTERS,
    sizeCalculation: ({ content }) => 500 + charactersOf(content),
  });

  constructor(private readonly log: EventReader) {}

  async at(conversationId: string, revisions: readonly bigint[]): Promise<readonly Record[]> {
    const unknown = revisions.filter((revision) => !this.known.has(`${conversationId} ${revision}`));
    const read = unknown.length ? await this.log.at(conversationId, unknown) : [];
    const found = new Map(read.map((record) => [record.revision, record]));
    for (const revision of revisions) {
      const record = found.get(revision) ?? this.known.get(`${conversationId} ${revision}`);
      if (record) found.set(revision, record);
    }
    for (const record of read) this.known.set(`${conversationId} ${record.revision}`, record);
    return [...found.values()].sort((a, b) => (a.revision < b.revision ? -1 : 1));
  }
}

function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(value).reduce<number>((sum, part) => sum + charactersOf(part), 8);
}

const nodeOf = ({ nodeId }: JsonObject): string => (typeof nodeId === 'string' ? nodeId : '');

function sourceOf({ source }: JsonObject): string | null {
  const { conversationId } = (source ?? {}) as JsonObject;
  return typeof conversationId === 'string' ? conversationId : null;
}
