import type { TamperableLog, Undo } from '@palimpsest/audit/testing';
import type { EventPlace, EventStore } from '@palimpsest/event-store';
import { type EventStoreDbServer, Tampering } from '../support/eventstoredb';

/** The log of an EventStoreDB, with a way round it: its server's own records. */
export class EventStoreDbLog implements TamperableLog {
  readonly densePositions = false;
  readonly tampering: Tampering;

  constructor(
    readonly store: EventStore,
    server: EventStoreDbServer,
  ) {
    this.tampering = new Tampering(server.log);
  }

  async places(): Promise<readonly EventPlace[]> {
    const places: EventPlace[] = [];
    for await (const { stream, revision, position, id, type } of this.store.readAll())
      places.push({ stream, revision, position, id, type });
    return places;
  }

  async flip({ position }: EventPlace, below: (limit: number) => number): Promise<Undo | null> {
    const flipped = this.tampering.flip(position, below(this.tampering.bitsOf(position)));
    // The number in `$rest` is the store's own: no digest covers it, and no answer rests on it.
    if (flipped && flipped.onlyIn(/^\{"\$rest":\d+/)) {
      flipped.undo();
      return null;
    }
    return flipped && { what: flipped.what, undo: async () => flipped.undo() };
  }
}
