import {
  type AssistantRefusal,
  type AssistantState,
  type AssistantVersionCreated,
  type CreateVersion,
  decideAssistant,
  evolveAssistant,
  noAssistant,
} from '@palimpsest/assistant';
import {
  type AppendContext,
  createHandler,
  type EventCodec,
  type EventStore,
  type Handled,
  type Handler,
} from '@palimpsest/event-store';
import { assistantStream } from '@palimpsest/turns';

type Known = { readonly revision: bigint; readonly version: number };
export type AssistantHandled = Handled<AssistantState, AssistantVersionCreated, AssistantRefusal, Known>;

/** The write side of assistants. */
export class AssistantWriter {
  private readonly handler: Handler<AssistantState, CreateVersion, AssistantVersionCreated, AssistantRefusal, Known>;

  constructor(store: EventStore, codec: EventCodec) {
    this.handler = createHandler({
      store,
      codec,
      decider: { initial: noAssistant, decide: decideAssistant, evolve: evolveAssistant },
    });
  }

  async handle(command: CreateVersion, context: AppendContext): Promise<AssistantHandled> {
    return this.handler.handle(assistantStream(command.assistantId), command, context);
  }

  async close(): Promise<void> {
    await this.handler.close();
  }
}
