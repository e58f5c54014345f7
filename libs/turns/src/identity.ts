import type { ConversationEvent } from '@palimpsest/conversation';
import type { EventCodec, EventStore } from '@palimpsest/event-store';
import { conversationStream } from '@palimpsest/read-models';
import { LRUCache } from 'lru-cache';

/** A conversation as whoever works on it knows it: what `ConversationStarted` says, which never changes. */
export interface ConversationIdentity {
  readonly conversationId: string;
  readonly tenantId: string;
  readonly assistantId: string;
  readonly assistantVersion: number;
  readonly subjectId: string;
  readonly zone: string;
}

type Started = Extract<ConversationEvent, { type: 'ConversationStarted' }>;

/** Whose a conversation is, from the first event of its stream. */
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
    for await (const event of this.store.readStream(conversationStream(conversationId), { limit: 1 })) {
      const { data, meta } = this.codec.decode<Started>(event);
      const { assistantId, assistantVersion, subjectId, zone } = data;
      const found = { conversationId, tenantId: meta.tenantId, assistantId, assistantVersion, subjectId, zone };
      this.known.set(conversationId, found);
      return found;
    }
    return undefined;
  }
}
