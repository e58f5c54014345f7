import type { ConversationEvent, ConversationSource } from '@palimpsest/conversation';
import { type EventCodec, type EventStore, EventUnreadable } from '@palimpsest/event-store';
import { conversationStream } from '@palimpsest/read-models';
import { LRUCache } from 'lru-cache';

/** A conversation as whoever works on it knows it: what `ConversationStarted` says, which never changes, and whether it is over. */
export interface ConversationIdentity {
  readonly conversationId: string;
  readonly tenantId: string;
  readonly assistantId: string;
  readonly assistantVersion: number;
  readonly subjectId: string;
  readonly zone: string;
  /** Where it grows from; left out: from nothing. */
  readonly source?: ConversationSource;
  /** Deleted: nothing undoes that. */
  readonly deleted: boolean;
}

/** Who acts where no person asked for it. */
export const OURSELVES = 'palimpsest';

type Started = Extract<ConversationEvent, { type: 'ConversationStarted' }>;

/** Whose a conversation is, from the first event of its stream, and whether it is over, from the last ones. */
export class ConversationIdentities {
  private readonly known = new LRUCache<string, ConversationIdentity>({ max: 50_000 });

  constructor(
    private readonly store: EventStore,
    private readonly codec: EventCodec,
  ) {}

  /** Undefined where there is no such conversation. */
  async find(conversationId: string): Promise<ConversationIdentity | undefined> {
    const known = this.known.get(conversationId);
    if (known) return known;
    const found = await this.read(conversationId);
    // What this process heard while it read is newer than what it read.
    const heard = this.known.get(conversationId);
    if (!heard && found) this.known.set(conversationId, found);
    return heard ?? found;
  }

  /** The conversations from which this one grows, the nearest first, and from where in each. */
  async sourcesOf(conversationId: string): Promise<readonly ConversationSource[]> {
    const sources: ConversationSource[] = [];
    let source = (await this.find(conversationId))?.source;
    for (; source; source = (await this.find(source.conversationId))?.source) sources.push(source);
    return sources;
  }

  /** It is over: from now on everybody here knows. */
  async markDeleted(conversationId: string): Promise<void> {
    const found = this.known.get(conversationId) ?? (await this.read(conversationId));
    if (found) this.known.set(conversationId, { ...found, deleted: true });
  }

  private async read(conversationId: string): Promise<ConversationIdentity | undefined> {
    const stream = conversationStream(conversationId);
    for await (const event of this.store.readStream(stream, { limit: 1 })) {
      // It was deleted before it began: it never came to be.
      if (event.type !== 'ConversationStarted') return undefined;
      const { data, meta } = this.codec.decode<Started>(event);
      const { whenBusy: _, ...said } = data;
      return { conversationId, tenantId: meta.tenantId, ...said, deleted: await this.isOver(stream) };
    }
    return undefined;
  }

  /** Nothing stands behind a conversation's end but that of its key. */
  private async isOver(stream: string, from?: bigint): Promise<boolean> {
    try {
      const options = { direction: 'backwards', limit: 2, ...(from !== undefined && { from }) } as const;
      for await (const { type } of this.store.readStream(stream, options))
        if (type === 'ConversationDeleted') return true;
      return false;
    } catch (error) {
      if (!(error instanceof EventUnreadable)) throw error;
      // Its type is known all the same.
      const { type, revision } = error.place;
      return type === 'ConversationDeleted' || (revision > 0n && this.isOver(stream, revision - 1n));
    }
  }
}
