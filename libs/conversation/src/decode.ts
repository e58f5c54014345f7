import type { CommandKey, ConversationEventType, RecordedEvent } from './events';
import { type Data, type Shapes, shapes } from './upcasts';

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
  return shapes.newest[type];
}

/** The names under which events of this type may stand in a log. */
export const namesOf = (type: string): readonly string[] => [
  type,
  ...Object.keys(shapes.renamed).filter((former) => shapes.renamed[former] === type),
];

/** Reads what stands in the log by these tables. */
export function decoderOf({ newest, upcasts, renamed }: Shapes): (stored: StoredShape) => RecordedEvent {
  const isKnown = (type: string): type is ConversationEventType => Object.hasOwn(newest, type);
  return (stored) => {
    const { schemaVersion, revision, key } = stored;
    const type = Object.hasOwn(renamed, stored.type) ? (renamed[stored.type] as string) : stored.type;
    if (!isKnown(type)) throw new UnreadableEvent(stored, 'no such type is known');
    const steps = upcasts[type] ?? [];
    if (!Number.isInteger(schemaVersion) || schemaVersion < 1 || schemaVersion > newest[type])
      throw new UnreadableEvent(stored, `versions 1 to ${newest[type]} are known`);
    const data = steps.slice(schemaVersion - 1).reduce((old, step) => step(old), stored.data as Data);
    return { type, data, revision, ...(key && { key }) } as unknown as RecordedEvent;
  };
}

/** The newest shape of a stored event. */
export const decode = decoderOf(shapes);
