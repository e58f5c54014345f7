import { Query } from '@nestjs/cqrs';
import type { JsonObject } from '@palimpsest/event-store';
import type { Caller } from '../caller/caller';
import type { Answer } from '../refusal';
import type { Written } from '../views';

/** An event as everybody may see it who may see its stream at all: what it says in the clear, which betrays no content. */
export interface EventView extends Written {
  readonly stream: string;
  readonly id: string;
  readonly type: string;
  readonly occurredAt: string;
  readonly actor: string;
  readonly correlationId: string;
  readonly data: JsonObject;
}

/** In the order of the log. `next` is never null: the log goes on. It is sealed, so that it does not tell how much others write. */
export interface EventPageView {
  readonly items: readonly EventView[];
  readonly next: string;
  /** There is no more at the moment. */
  readonly caughtUp: boolean;
}

export interface EventPageAsked {
  readonly limit: number;
  /** A `next`, or behind this position; `end`: behind all that is there now. Left out: from the beginning. */
  readonly cursor?: string | bigint;
  readonly conversationId?: string;
}

/** The log of a tenant, or of one of its conversations. */
export class ListEvents extends Query<Answer<EventPageView>> {
  constructor(
    readonly caller: Caller,
    readonly page: EventPageAsked,
  ) {
    super();
  }
}
