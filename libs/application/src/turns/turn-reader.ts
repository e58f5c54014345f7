import type { StoredEvent } from '@palimpsest/event-store';
import { type ConversationLog, type ConversationRecord, conversationStream } from '@palimpsest/read-models';
import type { EventStore } from '@palimpsest/event-store';
import type { FeedItem, RemoteTexts, TurnFeed } from '@palimpsest/turns';
import type { CompactionView, TurnView } from '../views';
import { TurnFold } from './turn-fold';

/** What a turn's follower is told: its conversation's events, opened, and its running text. */
export type TurnItem =
  Exclude<FeedItem, { kind: 'event' }> | { readonly kind: 'event'; readonly event: ConversationRecord };

/** Turns as the log tells them, and as they go on. */
export class TurnReader {
  constructor(
    private readonly store: EventStore,
    private readonly log: ConversationLog,
    private readonly feed: TurnFeed,
    private readonly remote: RemoteTexts,
  ) {}

  /** The turn as it stands. `start`: where it was queued or started. */
  async now(conversationId: string, turnId: string, start: bigint): Promise<TurnView> {
    const fold = new TurnFold(turnId);
    for await (const event of this.log.following(conversationId, start - 1n)) {
      fold.put(event);
      if (fold.ended) break;
    }
    return this.view(conversationId, fold, start);
  }

  /** The turn as it first ended, or first waited at or after `from`. Undefined where `client` left before. */
  async settled(
    conversationId: string,
    turnId: string,
    start: bigint,
    client: AbortSignal,
    from = start,
  ): Promise<TurnView | undefined> {
    const fold = new TurnFold(turnId, from);
    for await (const item of this.items(conversationId, start, client)) {
      if (item.kind !== 'event') continue;
      fold.put(item.event);
      if (fold.settled) return this.view(conversationId, fold, start);
    }
    return undefined;
  }

  /** Events from `start` on, and running text; ends when the client leaves. */
  async *items(conversationId: string, start: bigint, client: AbortSignal): AsyncIterable<TurnItem> {
    const running = new RunningCall();
    let from = start - 1n;
    try {
      while (!client.aborted)
        for await (const item of this.itemsAfter(from, conversationId, running, client)) {
          if (item.kind === 'event') from = item.event.revision;
          yield item;
        }
    } finally {
      running.ended.abort();
    }
  }

  /** The same, to where this reader lags behind too far. */
  private async *itemsAfter(
    revision: bigint,
    conversationId: string,
    running: RunningCall,
    client: AbortSignal,
  ): AsyncIterable<TurnItem> {
    const follower = this.feed.follow(conversationId);
    const leave = () => follower.close();
    client.addEventListener('abort', leave);
    let from = revision;
    try {
      for await (const event of this.log.following(conversationId, from)) {
        from = event.revision;
        running.put(event);
        yield { kind: 'event', event };
      }
      this.listen(conversationId, running, client);
      for await (const item of follower.from(from)) {
        if (client.aborted) return;
        if (item.kind !== 'event') {
          yield item;
          continue;
        }
        const event = await this.opened(item.event);
        if (running.put(event)) this.listen(conversationId, running, client);
        yield { kind: 'event', event };
      }
    } finally {
      client.removeEventListener('abort', leave);
      follower.close();
    }
  }

  /** A compaction's end, in the stream from this revision on; where it succeeded, with the move of the head. Undefined where `client` left or all was deleted. */
  async nodeEnded(
    conversationId: string,
    nodeId: string,
    from: bigint,
    client: AbortSignal,
  ): Promise<CompactionView | undefined> {
    for await (const item of this.items(conversationId, from, client)) {
      if (item.kind !== 'event') continue;
      const { type, data, content, revision, position } = item.event;
      if (type === 'ConversationDeleted' || type === 'KeyDestroyed') return undefined;
      if (type === 'HeadMoved' && data.to === nodeId && data.reason === 'compaction')
        return { nodeId, status: 'succeeded', head: nodeId, revision, position };
      if (type !== 'CallFailed' || data.nodeId !== nodeId) continue;
      const error = { code: data.reason, detail: content?.detail ?? '' };
      const head = await this.headBefore(conversationId, revision);
      return { nodeId, status: 'failed', error, head, revision, position };
    }
    return undefined;
  }

  textOf(nodeId: string): string | undefined {
    return this.feed.textOf(nodeId);
  }

  /** The text so far of a call that is out, from whichever process makes it. */
  async arrived(conversationId: string, turnId: string, nodeId: string): Promise<string | undefined> {
    return this.remote.soFar(conversationId, turnId, nodeId);
  }

  async view(conversationId: string, fold: TurnFold, start: bigint): Promise<TurnView> {
    return fold.view(fold.headUnknown ? await this.headBefore(conversationId, start) : null);
  }

  /** The text of a call that another process carries comes from there. */
  private listen(conversationId: string, { call, ended }: RunningCall, client: AbortSignal): void {
    if (call) this.remote.pipe(conversationId, call.turnId, call.nodeId, AbortSignal.any([client, ended.signal]));
  }

  private async opened(event: ConversationRecord | StoredEvent): Promise<ConversationRecord> {
    return 'content' in event ? event : this.log.open(event);
  }

  private async headBefore(conversationId: string, revision: bigint): Promise<string | null> {
    const events = this.store.readStream(conversationStream(conversationId), {
      from: revision,
      direction: 'backwards',
    });
    for await (const event of events) {
      if (event.type === 'HeadMoved') return event.data['to'] as string;
      if (event.type === 'ConversationCleared') return null;
    }
    return null;
  }
}

/** The call that is out, by the events so far. */
class RunningCall {
  call: { readonly turnId: string; readonly nodeId: string } | undefined;
  /** Aborts when the call is over. */
  ended = new AbortController();

  /** True where a call of a turn has gone out. */
  put({ type, data }: ConversationRecord): boolean {
    const called = type === 'CallRequested' && data.kind === 'turn';
    if (called) [this.call, this.ended] = [data, new AbortController()];
    else if ((type === 'CallSucceeded' || type === 'CallFailed') && data.nodeId === this.call?.nodeId) {
      this.ended.abort();
      this.call = undefined;
    }
    return called;
  }
}
