import type { ConversationRecord } from '@palimpsest/read-models';
import type { StoredEvent } from '@palimpsest/event-store';

/** What a follower of a conversation is told: events of the log, each once and in order, and running text as it arrives. */
export type FeedItem =
  | { readonly kind: 'event'; readonly event: ConversationRecord | StoredEvent }
  /** `at`: characters of this attempt's text before the delta. */
  | { readonly kind: 'text'; readonly nodeId: string; readonly delta: string; readonly at: number }
  /** The text so far; empty where a new attempt begins. */
  | { readonly kind: 'snapshot'; readonly nodeId: string; readonly text: string }
  /** No more text comes for this node. */
  | { readonly kind: 'quiet'; readonly nodeId: string };

/** Text that stands at this place of the running text; at 0 it replaces all of it. */
export interface RunningText {
  readonly text: string;
  readonly from: number;
}

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
    const { nodeId } = event.data as { readonly nodeId?: string };
    if (nodeId !== undefined && (event.type === 'CallSucceeded' || event.type === 'CallFailed'))
      this.ended(conversationId, nodeId);
  }

  text(conversationId: string, nodeId: string, delta: string): void {
    const before = this.texts.get(nodeId) ?? '';
    this.texts.set(nodeId, before + delta);
    this.tell(conversationId, { kind: 'text', nodeId, delta, at: before.length });
  }

  /** The text so far: empty where a new attempt at the call begins. */
  snapshot(conversationId: string, nodeId: string, text: string): void {
    this.texts.set(nodeId, text);
    this.tell(conversationId, { kind: 'snapshot', nodeId, text });
  }

  /** The running text of a node's call; undefined where nothing is known of it here. */
  textOf(nodeId: string): string | undefined {
    return this.texts.get(nodeId);
  }

  /** Nothing is known of this text here any more. */
  forget(nodeId: string): void {
    this.texts.delete(nodeId);
  }

  private ended(conversationId: string, nodeId: string): void {
    if (this.texts.delete(nodeId)) this.tell(conversationId, { kind: 'quiet', nodeId });
  }

  /** The running text of one node alone, from what there is now to its end. Ends at once where nothing runs here. */
  async *running(conversationId: string, nodeId: string, client: AbortSignal): AsyncIterable<RunningText> {
    const follower = this.follow(conversationId);
    const leave = () => follower.close();
    client.addEventListener('abort', leave);
    try {
      const text = this.texts.get(nodeId);
      if (text === undefined || client.aborted) return;
      yield { text, from: 0 };
      for await (const item of follower) {
        if (item.kind === 'event' || item.nodeId !== nodeId) continue;
        if (item.kind === 'quiet') return;
        yield item.kind === 'text' ? { text: item.delta, from: item.at } : { text: item.text, from: 0 };
      }
    } finally {
      client.removeEventListener('abort', leave);
      follower.close();
    }
  }

  private tell(conversationId: string, item: FeedItem): void {
    for (const follower of this.followers.get(conversationId) ?? []) follower.push(item);
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
