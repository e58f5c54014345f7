import { Command } from '@nestjs/cqrs';
import type { ItemPlace, ItemTag } from '@palimpsest/conversation';
import type { Caller, Idempotency } from '../caller/caller';
import type { Answer } from '../refusal';
import type { TagView } from '../views';

/** Says what an item of a node is, whatever a rule or an extraction said. */
export class TagItem extends Command<Answer<TagView>> {
  constructor(
    readonly caller: Caller,
    readonly idempotency: Idempotency,
    readonly nodeId: string,
    readonly item: ItemPlace,
    readonly tag: ItemTag,
  ) {
    super();
  }
}
