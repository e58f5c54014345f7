import { decode, newestVersion, type ConversationEventType } from '@palimpsest/conversation';
import { decodePlaybook, newestPlaybookVersions } from '@palimpsest/playbook';
import { EventCodec, type EventStore, type KeyRing, type OlderEvent } from '@palimpsest/event-store';

/** Reads and writes the events of this version's shapes. */
export const createCodec = (store: EventStore, keys: KeyRing): EventCodec =>
  new EventCodec({ store, keys, schemaVersion: versionOf, upcast });

const otherVersions: Readonly<Record<string, number>> = { AssistantVersionCreated: 1, ...newestPlaybookVersions };

const versionOf = (type: string): number => otherVersions[type] ?? newestVersion(type as ConversationEventType);

function upcast(event: OlderEvent) {
  if (event.stream.startsWith('conversation-')) return decode(event);
  return event.stream.startsWith('playbook-') ? decodePlaybook(event) : { type: event.type, data: event.data };
}
