import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { EventUnreadable, metaOf, routingOf, type StoredEvent } from '@palimpsest/event-store';
import { conversationStream } from '@palimpsest/read-models';
import { answer, type Answer } from '../refusal';
import { guarded, ownConversation } from '../system/guard';
import { System } from '../system/system';
import { type EventPageView, type EventView, ListEvents } from './list-events.query';

/** Payloads and anchors are of no interest to somebody who follows what happens. */
const STREAMS = ['assistant-', 'conversation-', 'playbook-'];
/** Events of the log that one page looks at, other tenants' among them. */
const SCANNED = 1_000;

@QueryHandler(ListEvents)
export class ListEventsHandler implements IQueryHandler<ListEvents> {
  constructor(private readonly system: System) {}

  async execute({ caller, page }: ListEvents): Promise<Answer<EventPageView>> {
    const { limit, conversationId } = page;
    const { store } = this.system;
    const after = page.cursor === 'end' ? await store.lastPosition() : (page.cursor ?? -1n);
    if (conversationId === undefined) return guarded(async () => answer(await this.ofTenant(caller.tenantId, after, limit))); // prettier-ignore
    return ownConversation(this.system, caller, conversationId, async ({ conversationId: id }) =>
      answer(await this.ofConversation(id, after, limit)),
    );
  }

  private async ofTenant(tenantId: string, after: bigint, limit: number): Promise<EventPageView> {
    const items: EventView[] = [];
    let next = after;
    try {
      for await (const event of this.system.store.readAll({
        after,
        filter: { streamPrefixes: STREAMS },
        limit: SCANNED,
      })) {
        next = event.position;
        if (metaOf(event).tenantId === tenantId) items.push(eventView(event));
        if (items.length === limit) break;
      }
    } catch (error) {
      // Whoever follows goes past it: `verify` names it.
      if (!(error instanceof EventUnreadable)) throw error;
      next = error.place.position;
    }
    return { items, next };
  }

  /** Read from its end, where whoever follows it stands. */
  private async ofConversation(conversationId: string, after: bigint, limit: number): Promise<EventPageView> {
    const events: StoredEvent[] = [];
    for await (const event of this.system.store.readStream(conversationStream(conversationId), {
      direction: 'backwards',
    })) {
      if (event.position <= after) break;
      events.push(event);
    }
    const items = events.reverse().slice(0, limit).map(eventView);
    return { items, next: items.at(-1)?.position ?? after };
  }
}

function eventView(event: StoredEvent): EventView {
  const { stream, revision, position, id, type } = event;
  const { occurredAt, actor, correlationId } = metaOf(event);
  return { position, stream, revision, id, type, occurredAt, actor, correlationId, data: routingOf(event) };
}
