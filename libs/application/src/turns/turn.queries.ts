import { Query } from '@nestjs/cqrs';
import type { Caller } from '../caller/caller';
import type { Answer } from '../refusal';
import type { TurnFrame, TurnView } from '../views';

/** The turn as it stands now. */
export class GetTurn extends Query<Answer<TurnView>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    readonly turnId: string,
  ) {
    super();
  }
}

/** The turn as it stood when it first ended or waited after `from`; waits for that, however long it takes, unless the client leaves. */
export class AwaitTurn extends Query<Answer<TurnView>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    readonly turnId: string,
    readonly client: AbortSignal,
    /** The first event of the command that asks: an approval's turn has waited before. */
    readonly from?: bigint,
  ) {
    super();
  }
}

/** The turn's frames, after the one with this id; ends with `turn.finished`, or when the client leaves. */
export class FollowTurn extends Query<Answer<AsyncIterable<TurnFrame>>> {
  constructor(
    readonly caller: Caller,
    readonly conversationId: string,
    readonly turnId: string,
    readonly client: AbortSignal,
    readonly lastEventId?: string,
  ) {
    super();
  }
}
