import { Command } from '@nestjs/cqrs';
import type { Caller, Idempotency } from '../caller/caller';
import type { Answer } from '../refusal';
import type { HeadView } from '../views';

/** Moves the head to the last node of the branch that a node stands on. */
export class SwitchBranch extends Command<Answer<HeadView>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly conversationId: string,
    readonly nodeId: string,
  ) {
    super();
  }
}
