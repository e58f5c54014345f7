import {
  absent,
  type ConversationEvent,
  type ConversationState,
  evolve,
  importHistory,
  type ImportHistory,
} from '@palimpsest/conversation';
import {
  type AppendContext,
  AppendTooLarge,
  createHandler,
  type EventCodec,
  type EventStore,
  type Handled,
  type Handler,
} from '@palimpsest/event-store';
import { conversationStream } from '@palimpsest/read-models';

type ImportRefusal = { readonly code: 'deleted' };
export type ImportHandled = Handled<ConversationState, ConversationEvent, ImportRefusal>;

/** Events of one append at most: with what stands in the clear of each they stay well below what a store takes. */
const AT_MOST = 256;

/** The write side of imports: the plan's events, append by append, until all are stored. */
export class ImportWriter {
  private readonly handler: Handler<ConversationState, ImportHistory, ConversationEvent, ImportRefusal>;

  constructor(store: EventStore, codec: EventCodec) {
    // It holds no state from one import to the next: the conversation's own writer goes on with it.
    this.handler = createHandler({ store, codec, decider: { initial: absent, decide: importHistory, evolve } });
  }

  /** Its key must be there. `created`: this call stored the last of it. */
  async handle(
    conversationId: string,
    events: readonly ConversationEvent[],
    context: AppendContext,
  ): Promise<{ readonly result: ImportHandled; readonly created: boolean }> {
    const stream = conversationStream(conversationId);
    let created = false;
    for (let atMost = AT_MOST; ;) {
      try {
        const result = await this.handler.handle(stream, { type: 'ImportHistory', events, atMost }, context);
        if (!result.ok || result.events.length === 0) {
          await this.handler.forget(stream);
          return { result, created };
        }
        created = true;
      } catch (error) {
        if (!(error instanceof AppendTooLarge) || atMost === 1) throw error;
        atMost = Math.ceil(atMost / 2);
      }
    }
  }

  async close(): Promise<void> {
    await this.handler.close();
  }
}
