import type { DraftEvent } from '../events';
import { evolveActive } from '../evolve';
import type { Accepted } from '../refusal';
import type { ActiveConversation } from '../state';

/** The end of a conversation is drafted alone. */
export type DraftOfTurn = Exclude<DraftEvent, { type: 'ConversationDeleted' }>;

/** The events of one decision, each folded as it is put, so that the next rule sees what it would see in the log. */
export class Draft {
  private readonly events: DraftEvent[] = [];
  private facts: number | undefined;

  constructor(private current: ActiveConversation) {}

  get state(): ActiveConversation {
    return this.current;
  }

  put(event: DraftOfTurn): void {
    this.events.push(event);
    this.current = evolveActive(this.current, { ...event, revision: BigInt(this.current.revision + 1) });
  }

  /** What follows may also be appended later. */
  factsEnd(): void {
    this.facts = this.events.length;
  }

  done(): Accepted {
    return { ok: true, events: this.events, facts: this.facts ?? this.events.length };
  }
}
