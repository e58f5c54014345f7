import { Command } from '@nestjs/cqrs';
import type { Caller, Idempotency } from '../caller/caller';
import type { Answer } from '../refusal';
import type { CompactionView } from '../views';

/** Summarises the context of the conversation's head: later turns see the summary. Answers when it has ended. */
export class CompactConversation extends Command<Answer<CompactionView>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly conversationId: string,
    /** Another topic begins. */
    readonly reason: 'topic' | undefined,
  ) {
    super();
  }
}
