import { Command, Query } from '@nestjs/cqrs';
import type { Idempotency } from '../caller/caller';
import type { Answer } from '../refusal';
import type { DroppedView, ProjectionView, RebuildView, RetriedView } from './projection.views';

/** Every read model of this version of the program, and how it stands. */
export class ListProjections extends Query<
  Answer<{ readonly items: readonly ProjectionView[]; readonly next: null }>
> {}

/** Builds the next generation of a read model beside the one that queries read, which it then replaces. */
export class RebuildProjection extends Command<Answer<RebuildView>> {
  constructor(
    readonly idempotency: Idempotency,
    readonly name: string,
  ) {
    super();
  }
}

/** Drops a generation that queries do not read: one that was replaced, or one that is still being built. */
export class DropGeneration extends Command<Answer<DroppedView>> {
  constructor(
    readonly name: string,
    readonly generation: number,
  ) {
    super();
  }
}

/** Tries parked conversations again, one or all, from the event that they were parked at. */
export class RetryParked extends Command<Answer<RetriedView>> {
  constructor(
    readonly name: string,
    readonly conversationId: string | undefined,
  ) {
    super();
  }
}
