import { decode, newestVersion, type ConversationEventType } from '@palimpsest/conversation';
import { EventCodec, type EventStore, type KeyRing, type OlderEvent } from '@palimpsest/event-store';

/** Reads and writes the events of this version's shapes. */
export const createCodec = (store: EventStore, keys: KeyRing): EventCodec =>
  new EventCodec({ store, keys, schemaVersion: versionOf, upcast });

const versionOf = (type: string): number =>
  type === 'AssistantVersionCreated' ? 1 : newestVersion(type as ConversationEventType);

const upcast = (event: OlderEvent) =>
  event.stream.startsWith('conversation-') ? decode(event) : { type: event.type, data: event.data };
