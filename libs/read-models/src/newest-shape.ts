import { decode } from '@palimpsest/conversation';
import type { StoredEvent } from '@palimpsest/event-store';

/** An event of a conversation in today's shape, whatever version was stored. Throws `UnreadableEvent` for one that this program doesn't know. */
export function newestShape(event: StoredEvent): StoredEvent {
  const { stream, revision, data, metadata } = event;
  const { type, data: today } = decode({
    ...{ stream, revision, type: event.type, data },
    schemaVersion: metadata['schemaVersion'] as number,
  });
  return { ...event, type, data: today as unknown as StoredEvent['data'] };
}
