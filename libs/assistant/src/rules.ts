import type { AssistantDefinition } from './definition';

/** The key under which a command had its effect, hashed; see `libs/conversation`. */
interface CommandKey {
  readonly name: string;
  readonly digest: string;
}

/** The assistant stream's event. The definition is sealed under the tenant's key. */
export interface AssistantVersionCreated {
  readonly type: 'AssistantVersionCreated';
  readonly data: { readonly assistantId: string; readonly version: number; readonly provider: string };
  readonly content: { readonly definition: Omit<AssistantDefinition, 'assistantId' | 'version'> };
  readonly key?: CommandKey;
}

export interface AssistantState {
  /** The newest; 0 where there is none. */
  readonly version: number;
  readonly keys: Readonly<
    Record<string, { readonly digest: string; readonly revision: bigint; readonly version: number }>
  >;
}

export interface CreateVersion {
  readonly type: 'CreateVersion';
  readonly assistantId: string;
  /** True for a new assistant: then a version that is there already is another command's. */
  readonly isNew: boolean;
  readonly definition: Omit<AssistantDefinition, 'assistantId' | 'version'>;
  readonly key?: CommandKey;
}

export type AssistantRefusal = { readonly code: 'not_found' } | { readonly code: 'idempotency_conflict' };

export type AssistantDecision =
  | {
      readonly ok: true;
      readonly events: readonly AssistantVersionCreated[];
      readonly known?: { readonly revision: bigint; readonly version: number };
    }
  | { readonly ok: false; readonly refusal: AssistantRefusal };

export const noAssistant: AssistantState = { version: 0, keys: {} };

export function evolveAssistant(
  state: AssistantState,
  event: Pick<AssistantVersionCreated, 'type' | 'data' | 'key'> & { readonly revision: bigint },
): AssistantState {
  const { version } = event.data;
  const { key, revision } = event;
  const keys = key ? { ...state.keys, [key.name]: { digest: key.digest, revision, version } } : state.keys;
  return { version, keys };
}

export function decideAssistant(state: AssistantState, command: CreateVersion): AssistantDecision {
  const { key, assistantId, definition, isNew } = command;
  const known = key && state.keys[key.name];
  if (known) return known.digest === key.digest ? { ok: true, events: [], known } : refuse('idempotency_conflict');
  if (isNew !== (state.version === 0)) return refuse('not_found');
  const data = { assistantId, version: state.version + 1, provider: definition.model.provider };
  return {
    ok: true,
    events: [{ type: 'AssistantVersionCreated', data, content: { definition }, ...(key ? { key } : {}) }],
  };
}

const refuse = (code: AssistantRefusal['code']): AssistantDecision => ({ ok: false, refusal: { code } });
