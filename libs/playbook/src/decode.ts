import type { CommandKey, PlaybookEventType, RecordedPlaybookEvent } from './events';

/** The newest version of each shape. */
export const newestPlaybookVersions: Readonly<Record<PlaybookEventType, number>> = {
  PlaybookCreated: 1,
  PlaybookVersionAdded: 1,
};

interface StoredShape {
  readonly stream: string;
  readonly revision: bigint;
  readonly type: string;
  readonly schemaVersion: number;
  readonly data: unknown;
  readonly key?: CommandKey | undefined;
}

/** The newest shape of a stored event. Throws where this program can't read it: a newer one wrote it, or it is no event of a playbook. */
export function decodePlaybook({
  stream,
  revision,
  type,
  schemaVersion,
  data,
  key,
}: StoredShape): RecordedPlaybookEvent {
  const newest = Object.hasOwn(newestPlaybookVersions, type) ? newestPlaybookVersions[type as PlaybookEventType] : 0;
  if (!Number.isInteger(schemaVersion) || schemaVersion < 1 || schemaVersion > newest)
    throw new Error(
      `${stream} holds at revision ${revision} an event ${type} in version ${schemaVersion}, which is not known here.`,
    );
  return { type, data, revision, ...(key && { key }) } as unknown as RecordedPlaybookEvent;
}
