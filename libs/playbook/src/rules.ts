import type { CommandKey, PlaybookDocument, PlaybookEvent, PlaybookEventOf, RecordedPlaybookEvent } from './events';

export interface PlaybookState {
  /** The newest; 0 where there is no playbook. */
  readonly version: number;
  readonly keys: ReadonlyMap<string, KnownPlaybook & { readonly digest: string }>;
}

/** What an equal command did before. */
export interface KnownPlaybook {
  readonly revision: bigint;
  readonly version: number;
}

/** The stream's id is derived from the key, so whoever finds the playbook made finds the key too. */
export interface CreatePlaybook {
  readonly type: 'CreatePlaybook';
  readonly data: PlaybookEventOf<'PlaybookCreated'>['data'];
  readonly content: PlaybookEventOf<'PlaybookCreated'>['content'];
  readonly key?: CommandKey;
}

/** An edited playbook, judged already. */
export interface AddVersion {
  readonly type: 'AddVersion';
  readonly playbook: PlaybookDocument;
  /** The version that was edited: refused where it is not the newest any more. Left out: whatever the newest is. */
  readonly basedOn?: number;
  readonly key?: CommandKey;
}

export type PlaybookCommand = CreatePlaybook | AddVersion;

export type PlaybookRefusal =
  | { readonly code: 'not_found' }
  | { readonly code: 'idempotency_conflict' }
  /** Somebody else added a version since. */
  | { readonly code: 'version_conflict'; readonly basedOn: number; readonly newest: number };

export type PlaybookDecision =
  | { readonly ok: true; readonly events: readonly PlaybookEvent[]; readonly known?: KnownPlaybook }
  | { readonly ok: false; readonly refusal: PlaybookRefusal };

export const noPlaybook: PlaybookState = { version: 0, keys: new Map() };

export function evolvePlaybook(state: PlaybookState, event: RecordedPlaybookEvent): PlaybookState {
  const { key, revision } = event;
  const version = event.type === 'PlaybookCreated' ? 1 : event.data.version;
  return {
    version,
    keys: key ? new Map([...state.keys, [key.name, { digest: key.digest, revision, version }]]) : state.keys,
  };
}

export function decidePlaybook(state: PlaybookState, command: PlaybookCommand): PlaybookDecision {
  const { key } = command;
  const known = key && state.keys.get(key.name);
  if (known && known.digest !== key.digest) return refuse({ code: 'idempotency_conflict' });
  if (known) return { ok: true, events: [], known: { revision: known.revision, version: known.version } };
  const keyed = key ? { key } : {};
  if (command.type === 'CreatePlaybook') {
    const { data, content } = command;
    return { ok: true, events: state.version > 0 ? [] : [{ type: 'PlaybookCreated', data, content, ...keyed }] };
  }
  if (state.version === 0) return refuse({ code: 'not_found' });
  const { playbook, basedOn = state.version } = command;
  if (basedOn !== state.version) return refuse({ code: 'version_conflict', basedOn, newest: state.version });
  const data = { version: state.version + 1 };
  return { ok: true, events: [{ type: 'PlaybookVersionAdded', data, content: { playbook }, ...keyed }] };
}

const refuse = (refusal: PlaybookRefusal): PlaybookDecision => ({ ok: false, refusal });
