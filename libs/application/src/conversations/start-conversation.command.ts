import { Command } from '@nestjs/cqrs';
import type { Caller, Idempotency } from '../caller/caller';
import type { Answer } from '../refusal';
import type { ConversationView } from '../views';

export class StartConversation extends Command<Answer<ConversationView>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly assistantId: string,
    readonly options: {
      /** The assistant's version; left out, the newest. */
      readonly version?: number;
      /** The caller's own id of the person; left out, an anonymous one. */
      readonly subjectId?: string;
      readonly zone?: string;
      readonly whenBusy?: 'refuse' | 'queue';
    },
  ) {
    super();
  }
}
