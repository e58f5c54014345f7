import {
  decidePlaybook,
  evolvePlaybook,
  type KnownPlaybook,
  noPlaybook,
  type PlaybookCommand,
  type PlaybookEvent,
  type PlaybookRefusal,
  type PlaybookState,
} from '@palimpsest/playbook';
import {
  type AppendContext,
  createHandler,
  type EventCodec,
  type EventStore,
  type Handled,
  type Handler,
  playbookKeyId,
} from '@palimpsest/event-store';

export type PlaybookHandled = Handled<PlaybookState, PlaybookEvent, PlaybookRefusal, KnownPlaybook>;

/** The write side of playbooks. */
export class PlaybookWriter {
  private readonly handler: Handler<PlaybookState, PlaybookCommand, PlaybookEvent, PlaybookRefusal, KnownPlaybook>;

  constructor(store: EventStore, codec: EventCodec) {
    const decider = { initial: noPlaybook, decide: decidePlaybook, evolve: evolvePlaybook };
    this.handler = createHandler({ store, codec, decider });
  }

  /** Its key must be there: see `KeyRing.forPlaybook`. */
  async handle(playbookId: string, command: PlaybookCommand, context: AppendContext): Promise<PlaybookHandled> {
    return this.handler.handle(playbookStream(playbookId), command, context);
  }

  async close(): Promise<void> {
    await this.handler.close();
  }
}

/** A playbook's key is named like its stream. */
export const playbookStream = (playbookId: string): string => playbookKeyId(playbookId);
