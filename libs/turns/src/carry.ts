import type { Bounds, ConversationCommand } from '@palimpsest/conversation';
import type { CommandContext, Handled, WriteOptions } from './conversation-writer';
import type { ConversationIdentity } from './identity';

/** One carry of one turn by this process. */
export class Carry {
  /** Aborts what runs outside for this turn: calls, and tools that only read. */
  readonly abort = new AbortController();
  readonly startedAt = performance.now();
  /** Monotonic milliseconds of the last known renewal of its lease. */
  renewedAt = performance.now();

  constructor(
    readonly carrier: string,
    readonly conversation: ConversationIdentity,
    readonly turnId: string,
    /** An opaque id of whoever asked; events that follow are recorded as theirs. */
    readonly actor: string,
  ) {}

  get context(): CommandContext {
    return { actor: this.actor, correlationId: this.turnId };
  }
}

/** What work outside reports to: commands go in, and whatever their events name is done. */
export interface TurnWriter {
  write(
    conversation: ConversationIdentity,
    command: ConversationCommand,
    context: CommandContext,
    options?: WriteOptions,
  ): Promise<Handled>;
  bounds(): Bounds;
}
