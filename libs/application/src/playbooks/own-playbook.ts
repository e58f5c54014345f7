import { type Decoded, playbookKeyId } from '@palimpsest/event-store';
import type { PlaybookDocument, PlaybookEvent, PlaybookEventOf } from '@palimpsest/playbook';
import { validate as isUuid } from 'uuid';
import type { Caller } from '../caller/caller';
import { type Answer, refused } from '../refusal';
import { guarded } from '../system/guard';
import type { System } from '../system/system';
import type { PlaybookVersionView } from '../views';
import { playbookStream } from './playbook-writer';

/** A playbook's stream, read and not opened: version n is its nth event. */
export interface StoredPlaybook {
  readonly playbookId: string;
  readonly created: PlaybookEventOf<'PlaybookCreated'>['data'];
  readonly versions: readonly Decoded<PlaybookEvent>[];
}

/** The playbook, if it is the caller's own: another tenant's does not exist. One whose key was destroyed is 410. */
export async function ownPlaybook<T>(
  system: System,
  caller: Caller,
  playbookId: string,
  work: (playbook: StoredPlaybook) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  return guarded(async () => {
    const playbook = isUuid(playbookId) ? await readPlaybook(system, playbookId.toLowerCase()) : undefined;
    if (playbook?.versions[0]?.meta.tenantId !== caller.tenantId)
      return refused('not_found', 'There is no such playbook.');
    // Also where the answer would need no content: what was erased is so on every route.
    await system.keys.open(playbookKeyId(playbook.playbookId));
    return work(playbook);
  });
}

async function readPlaybook({ store, codec }: System, playbookId: string): Promise<StoredPlaybook | undefined> {
  const versions: Decoded<PlaybookEvent>[] = [];
  for await (const event of store.readStream(playbookStream(playbookId))) versions.push(codec.decode(event));
  const [first] = versions;
  return first?.type === 'PlaybookCreated' ? { playbookId, created: first.data, versions } : undefined;
}

/** Undefined where there is no such version. */
export async function contentOf({ versions }: StoredPlaybook, version: number): Promise<PlaybookDocument | undefined> {
  const event = versions[version - 1];
  return event && (await event.open()).playbook;
}

export async function schemaOf({ versions }: StoredPlaybook): Promise<Readonly<Record<string, unknown>>> {
  const content = (await versions[0]?.open()) as PlaybookEventOf<'PlaybookCreated'>['content'];
  return content.schema;
}

export function versionView({ playbookId, versions }: StoredPlaybook, version: number): PlaybookVersionView {
  const event = versions[version - 1];
  if (!event) throw new Error(`Playbook ${playbookId} has no version ${version}.`);
  const { revision, position, meta } = event;
  return { playbookId, version, revision, position, createdAt: meta.occurredAt };
}
