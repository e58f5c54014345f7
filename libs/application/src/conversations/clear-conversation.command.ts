import { Command } from '@nestjs/cqrs';
import type { Caller, Idempotency } from '../caller/caller';
import type { Answer } from '../refusal';
import type { ClearedView } from '../views';

/** Transcript and head go together; the nodes stay for the audit, and nothing grows from them any more. */
export class ClearConversation extends Command<Answer<ClearedView>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly conversationId: string,
  ) {
    super();
  }
}
