import type { StoredEvent } from '@palimpsest/event-store';
import { PastTree } from './conversation-tree/past-tree';
import { routedEvent } from './dialogue-state/state-fold';

describe('an event of no known type', () => {
  it.each([
    ['a tree', (event: StoredEvent) => new PastTree().put(event)],
    ['a state', (event: StoredEvent) => routedEvent(event)],
  ])('stops who tells %s from the stream, and is named with its place', (_, tell) => {
    const metadata = { tenantId: 't', schemaVersion: 1, occurredAt: '2026-11-30T00:00:00.000Z' };
    const event = { stream: 'conversation-c', revision: 7n, position: 9n, type: 'TurnPaused', data: {}, metadata };
    expect(() => tell(event as unknown as StoredEvent)).toThrow(
      'conversation-c holds at revision 7 an event TurnPaused',
    );
  });
});
