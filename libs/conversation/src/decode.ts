import type { CommandKey, ConversationEventType, RecordedEvent } from './events';
import { type Data, newest, upcasts } from './upcasts';

/** An event as it stands in the log, its key already taken from its metadata. */
export interface StoredShape {
  readonly stream: string;
  readonly revision: bigint;
  readonly type: string;
  readonly schemaVersion: number;
  readonly data: unknown;
  readonly key?: CommandKey | undefined;
}

/** A stored event that this program can't read: a newer one wrote it, or it is no event of a conversation. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';
  constructor({ stream, revision, type, schemaVersion }: StoredShape, why: string) {
    super(`${stream} holds at revision ${revision} an event ${type} in version ${schemaVersion}: ${why}.`);
  }
}

export function newestVersion(type: ConversationEventType): number {
  return newest[type];
}

/** The newest shape of a stored event. */
export function decode(stored: StoredShape): RecordedEvent {
  const { type, schemaVersion, revision, key } = stored;
  if (!isKnown(type)) throw new UnreadableEvent(stored, 'no such type is known');
  const steps = upcasts[type] ?? [];
  if (!Number.isInteger(schemaVersion) || schemaVersion < 1 || schemaVersion > newest[type])
    throw new UnreadableEvent(stored, `versions 1 to ${newest[type]} are known`);
  const data = steps.slice(schemaVersion - 1).reduce((old, step) => step(old), stored.data as Data);
  return { type, data, revision, ...(key && { key }) } as unknown as RecordedEvent;
}

const isKnown = (type: string): type is ConversationEventType => Object.hasOwn(newest, type);
