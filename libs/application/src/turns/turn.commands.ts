import { Command } from '@nestjs/cqrs';
import type { Caller, Idempotency } from '../caller/caller';
import type { Answer } from '../refusal';
import type { TurnView, Written } from '../views';

/** A turn whose start is stored. It goes on by itself; `AwaitTurn` and `followTurn` tell what becomes of it. */
export interface StartedTurn extends Written {
  readonly turnId: string;
}

/** Asks a question under the head. */
export class AskQuestion extends Command<Answer<StartedTurn>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly conversationId: string,
    readonly text: string,
    /** `parent`: the head that the client saw. */
    readonly options: { readonly parent?: string; readonly assistantVersion?: number } = {},
  ) {
    super();
  }
}

/** Asks a turn's question anew, in other words, at the same place. */
export class EditQuestion extends Command<Answer<StartedTurn>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly conversationId: string,
    readonly turnId: string,
    readonly text: string,
  ) {
    super();
  }
}

/** Asks a turn's question again. */
export class RegenerateAnswer extends Command<Answer<StartedTurn>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly conversationId: string,
    readonly turnId: string,
  ) {
    super();
  }
}

/** Ends a turn. One that has ended is left as it is. */
export class CancelTurn extends Command<Answer<TurnView>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly conversationId: string,
    readonly turnId: string,
  ) {
    super();
  }
}

/** Approves or rejects a tool call that waits, with the digest of the arguments that the person saw. */
export class DecideApproval extends Command<Answer<StartedTurn>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly conversationId: string,
    readonly toolCallId: string,
    readonly decision: 'approve' | 'reject',
    readonly argumentsDigest: string,
  ) {
    super();
  }
}
