import { type EventStore, EventUnreadable, followLog, type Position } from '@palimpsest/event-store';
import { conversationStream } from '@palimpsest/read-models';
import type { TurnEngine } from './engine';
import type { TurnFeed } from './turn-feed';
import type { UnfinishedConversations } from './unfinished';

export interface FollowerOptions {
  readonly store: EventStore;
  readonly engine: TurnEngine;
  readonly feed: TurnFeed;
  readonly unfinished: UnfinishedConversations;
  /** It is over: nothing of it stays in this process. */
  readonly onDeleted: (conversationId: string) => void;
  readonly onError: (error: unknown) => void;
  /** Told of each event that can't be read. It is passed over. */
  readonly onUnreadable: (error: EventUnreadable) => void;
}

/** Each api process follows the log: what others wrote, who has work to do, and what those who watch a turn are told. */
export class LogFollower {
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private reached: Position = -1n;

  constructor(private readonly options: FollowerOptions) {}

  /**
   * Conversations with unfinished turns as of a position, by a read model that may be behind; their streams are read anew, and the log is
   * followed from that position on.
   */
  async begin({
    conversations,
    position,
  }: {
    readonly conversations: readonly string[];
    readonly position: Position;
  }): Promise<void> {
    for (const conversationId of conversations) await this.recall(conversationId, position);
    this.reached = position;
    this.running = this.run();
  }

  get position(): Position {
    return this.reached;
  }

  /** One that is damaged in the log keeps no process from its start. */
  private async recall(conversationId: string, position: Position): Promise<void> {
    const { store, unfinished, onUnreadable } = this.options;
    try {
      for await (const event of store.readStream(conversationStream(conversationId)))
        if (event.position <= position) unfinished.put(event);
    } catch (error) {
      if (!(error instanceof EventUnreadable)) throw error;
      onUnreadable(error);
    }
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        // Without an error a subscription ends only with this follower or with the store: there is nothing to go on with.
        return await this.follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.options.onError(error);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const { store, engine, feed, unfinished, onUnreadable } = this.options;
    const filter = { streamPrefixes: ['conversation-'] };
    for await (const batch of followLog(store, { after: this.reached, filter, signal, onUnreadable })) {
      for (const event of batch.events) {
        const conversationId = event.stream.slice('conversation-'.length);
        unfinished.put(event);
        feed.event(conversationId, event);
        engine.observe(conversationId, event);
        if (event.type === 'ConversationDeleted') this.options.onDeleted(conversationId);
      }
      this.reached = batch.position;
    }
  }
}
