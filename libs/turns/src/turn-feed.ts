import type { ConversationRecord } from '@palimpsest/read-models';
import type { StoredEvent } from '@palimpsest/event-store';

/** What a follower of a conversation is told: events of the log, each once and in order, and running text as it arrives. */
export type FeedItem =
  | { readonly kind: 'event'; readonly event: ConversationRecord | StoredEvent }
  /** `at`: characters of this attempt's text before the delta. */
  | { readonly kind: 'text'; readonly nodeId: string; readonly delta: string; readonly at: number }
  /** The text so far; empty where a new attempt begins. */
  | { readonly kind: 'snapshot'; readonly nodeId: string; readonly text: string };

/** Items a follower may lag behind before it is ended; it then resumes from the log. */
const MAX_WAITING = 10_000;

/**
 * Passes on what happens in conversations to those who follow them in this process. Events come from whoever appended them here and again
 * from the log, whichever is first; a follower gets each once, in the order of revisions.
 */
export class TurnFeed {
  private readonly followers = new Map<string, Set<FeedFollower>>();
  private readonly texts = new Map<string, string>();

  /** Begins to collect at once. Then read the log, and say with `from` where that reading ended. */
  follow(conversationId: string): FeedFollower {
    const follower = new FeedFollower(() => this.leave(conversationId, follower));
    this.followers.set(conversationId, (this.followers.get(conversationId) ?? new Set()).add(follower));
    return follower;
  }

  event(conversationId: string, event: ConversationRecord | StoredEvent): void {
    for (const follower of this.followers.get(conversationId) ?? []) follower.event(event);
  }

  text(conversationId: string, nodeId: string, delta: string): void {
    const before = this.texts.get(nodeId) ?? '';
    this.texts.set(nodeId, before + delta);
    const item = { kind: 'text', nodeId, delta, at: before.length } as const;
    for (const follower of this.followers.get(conversationId) ?? []) follower.push(item);
  }

  /** A new attempt at a node's call begins. */
  attempt(conversationId: string, nodeId: string): void {
    this.texts.set(nodeId, '');
    for (const follower of this.followers.get(conversationId) ?? [])
      follower.push({ kind: 'snapshot', nodeId, text: '' });
  }

  /** The running text of a node's call; undefined unless it runs here. */
  textOf(nodeId: string): string | undefined {
    return this.texts.get(nodeId);
  }

  ended(nodeId: string): void {
    this.texts.delete(nodeId);
  }

  private leave(conversationId: string, follower: FeedFollower): void {
    const followers = this.followers.get(conversationId);
    followers?.delete(follower);
    if (!followers?.size) this.followers.delete(conversationId);
  }
}

export class FeedFollower implements AsyncIterable<FeedItem> {
  private readonly ready: FeedItem[] = [];
  private readonly early = new Map<bigint, ConversationRecord | StoredEvent>();
  private revision: bigint | undefined;
  private wake: () => void = () => undefined;
  private closed = false;

  constructor(private readonly leave: () => void) {}

  /** Events after this revision are handed over, each once and in order. */
  from(revision: bigint): this {
    this.revision = revision;
    for (const known of this.early.keys()) if (known <= revision) this.early.delete(known);
    this.release();
    return this;
  }

  event(event: ConversationRecord | StoredEvent): void {
    if (this.revision !== undefined && event.revision <= this.revision) return;
    if (!this.early.has(event.revision)) this.early.set(event.revision, event);
    this.release();
  }

  private release(): void {
    if (this.revision === undefined) return;
    for (let next = this.early.get(this.revision + 1n); next; next = this.early.get(this.revision + 1n)) {
      this.early.delete(next.revision);
      this.revision = next.revision;
      this.push({ kind: 'event', event: next });
    }
  }

  push(item: FeedItem): void {
    if (this.ready.length >= MAX_WAITING) return this.close();
    this.ready.push(item);
    this.wake();
  }

  close(): void {
    this.closed = true;
    this.leave();
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<FeedItem> {
    try {
      for (;;) {
        const next = this.ready.shift();
        if (next) yield next;
        else if (this.closed) return;
        else await new Promise<void>((resolve) => (this.wake = resolve));
      }
    } finally {
      this.close();
    }
  }
}
