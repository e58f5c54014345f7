import { Command } from '@nestjs/cqrs';
import type { ModelChoice } from '@palimpsest/assistant';
import type { Caller, Idempotency } from '../caller/caller';
import type { Answer } from '../refusal';
import type { ReissueView } from './reissue-view';

/** A model by its name; the provider is the node's own where none is named. */
export interface OtherModel {
  readonly provider?: ModelChoice['provider'];
  readonly name: string;
}

/** Sends a past request again, and compares the answers. A call outside the tree's paths: no head moves, no tool runs. */
export class ReissueNode extends Command<Answer<ReissueView>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly nodeId: string,
    /** Undefined: the recorded bytes, to the provider that had them. */
    readonly model: OtherModel | undefined,
  ) {
    super();
  }
}
