import { Query } from '@nestjs/cqrs';
import type { RunningText } from '@palimpsest/turns';
import type { Answer } from '../refusal';

/** Asked by another process of the installation: the text of a call that this one has out, from what there is now to its end. */
export class FollowRunningText extends Query<Answer<AsyncIterable<RunningText>>> {
  constructor(
    readonly token: string,
    readonly conversationId: string,
    readonly nodeId: string,
    readonly client: AbortSignal,
  ) {
    super();
  }
}
