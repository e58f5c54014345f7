import { Command, Query } from '@nestjs/cqrs';
import type { Caller, Idempotency } from '../caller/caller';
import type { When } from '../conversations/conversation.queries';
import type { Answer } from '../refusal';
import type { StateHistoryView, StateView, StatementView } from '../views';

/** What a client says of a field on the user's behalf: a value; or that one, or all, hold no longer. */
export type FieldStatement = {
  readonly field: string;
  /** In a set: what the value is about. */
  readonly key?: string;
} & (
  | { readonly value: string | number | boolean; readonly retract?: undefined }
  | { readonly value?: string | number | boolean; readonly retract: true }
);

export class StateField extends Command<Answer<StatementView>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly conversationId: string,
    readonly statement: FieldStatement,
  ) {
    super();
  }
}

/** At a node, by default at the head. */
export class GetState extends Query<Answer<StateView>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    readonly nodeId: string | undefined,
    readonly when: When = {},
  ) {
    super();
  }
}

export class GetStateHistory extends Query<Answer<StateHistoryView>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    readonly field: string,
    readonly nodeId: string | undefined,
    readonly when: When = {},
  ) {
    super();
  }
}
