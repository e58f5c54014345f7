import type { ConversationEvent } from '../events';
import type { ConversationState } from '../state';

/** All events of a conversation that is brought in, first to last; equal whoever imports the same document. */
export interface ImportHistory {
  readonly type: 'ImportHistory';
  readonly events: readonly ConversationEvent[];
  /** Of one append. */
  readonly atMost: number;
}

export type ImportDecision =
  | { readonly ok: true; readonly events: readonly ConversationEvent[] }
  | { readonly ok: false; readonly refusal: { readonly code: 'deleted' } };

/**
 * The next events of an import. What the stream holds of it stays, so an import that broke off goes on; one that has ended is already so,
 * whatever came after it.
 */
export function importHistory(state: ConversationState, { events, atMost }: ImportHistory): ImportDecision {
  if (state.status === 'deleted') return { ok: false, refusal: { code: 'deleted' } };
  if (state.status === 'active' && !state.importing) return { ok: true, events: [] };
  const stored = state.status === 'active' ? state.revision + 1 : 0;
  return { ok: true, events: events.slice(stored, stored + atMost) };
}
