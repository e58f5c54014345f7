import { Command } from '@nestjs/cqrs';
import type { Caller } from '../caller/caller';
import type { Answer } from '../refusal';
import type { DeletedView } from '../views';

/**
 * Ends a conversation and destroys its key. It needs no key of its own: a second time it finishes what a process that died left undone, and
 * gives the same answer.
 */
export class DeleteConversation extends Command<Answer<DeletedView>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    /** Those that grow from it too, and first. */
    readonly cascade: boolean,
  ) {
    super();
  }
}
