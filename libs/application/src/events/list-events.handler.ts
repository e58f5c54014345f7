import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { EventUnreadable, metaOf, routingOf, type StoredEvent } from '@palimpsest/event-store';
import { conversationStream } from '@palimpsest/read-models';
import { answer, type Answer, refused } from '../refusal';
import { guarded, ownConversation } from '../system/guard';
import { System } from '../system/system';
import { EventCursors } from './event-cursors';
import { type EventPageView, type EventView, ListEvents } from './list-events.query';

/** Payloads and anchors are of no interest to somebody who follows what happens. */
const STREAMS = ['assistant-', 'conversation-', 'playbook-'];
/** Events of the log that one page looks at, other tenants' among them. */
const SCANNED = 1_000;

/** A page, and the position up to which all was seen. */
type Found = Pick<EventPageView, 'items' | 'caughtUp'> & { readonly next: bigint };

@QueryHandler(ListEvents)
export class ListEventsHandler implements IQueryHandler<ListEvents> {
  constructor(private readonly system: System) {}

  async execute({ caller, page }: ListEvents): Promise<Answer<EventPageView>> {
    const { limit, cursor, conversationId } = page;
    return guarded(async () => {
      const cursors = new EventCursors(await this.system.keys.forTenant(caller.tenantId), caller.tenantId);
      const after = typeof cursor === 'string' ? await this.placeOf(cursor, cursors) : (cursor ?? -1n);
      if (after === undefined) return refused('validation_failed', 'The cursor is not one that this list gave.');
      const view = ({ items, next, caughtUp }: Found): Answer<EventPageView> =>
        answer({ items, next: cursors.behind(next), caughtUp });
      if (conversationId === undefined) return view(await this.ofTenant(caller.tenantId, after, limit));
      return ownConversation(this.system, caller, conversationId, async ({ conversationId: id }) =>
        view(await this.ofConversation(id, after, limit)),
      );
    });
  }

  private async placeOf(cursor: string, cursors: EventCursors): Promise<bigint | undefined> {
    return cursor === 'end' ? this.system.store.lastPosition() : cursors.read(cursor);
  }

  private async ofTenant(tenantId: string, after: bigint, limit: number): Promise<Found> {
    const items: EventView[] = [];
    let [next, scanned] = [after, 0];
    try {
      for await (const event of this.system.store.readAll({
        after,
        filter: { streamPrefixes: STREAMS },
        limit: SCANNED,
      })) {
        next = event.position;
        scanned += 1;
        if (metaOf(event).tenantId === tenantId) items.push(eventView(event));
        if (items.length === limit) return { items, next, caughtUp: false };
      }
    } catch (error) {
      // Whoever follows goes past it: `verify` names it.
      if (!(error instanceof EventUnreadable)) throw error;
      return { items, next: error.place.position, caughtUp: false };
    }
    return { items, next, caughtUp: scanned < SCANNED };
  }

  /** Read from its end, where whoever follows it stands. */
  private async ofConversation(conversationId: string, after: bigint, limit: number): Promise<Found> {
    const events: StoredEvent[] = [];
    for await (const event of this.system.store.readStream(conversationStream(conversationId), {
      direction: 'backwards',
    })) {
      if (event.position <= after) break;
      events.push(event);
    }
    const items = events.reverse().slice(0, limit).map(eventView);
    return { items, next: items.at(-1)?.position ?? after, caughtUp: items.length === events.length };
  }
}

function eventView(event: StoredEvent): EventView {
  const { stream, revision, position, id, type } = event;
  const { occurredAt, actor, correlationId } = metaOf(event);
  return { position, stream, revision, id, type, occurredAt, actor, correlationId, data: routingOf(event) };
}
