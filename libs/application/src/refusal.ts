/** Every reason for which a request is refused. `apps/api` gives each its status. */
export type RefusalCode =
  | 'already_decided'
  | 'approval_mismatch'
  | 'before_compaction'
  | 'before_start'
  | 'nothing_to_compact'
  | 'no_context'
  | 'no_exact_request'
  | 'behind'
  | 'cleared'
  | 'generation_live'
  | 'context_too_large'
  | 'has_dependents'
  | 'idempotency_conflict'
  | 'importing'
  | 'in_source'
  | 'key_lost'
  | 'log_damaged'
  | 'node_pending'
  | 'not_found'
  | 'not_reissuable'
  | 'not_switchable'
  | 'outcome_unknown'
  | 'query_failed'
  | 'rebuild_running'
  | 'revision_conflict'
  | 'sealed'
  | 'shutting_down'
  | 'too_many_turns'
  | 'tool_unavailable'
  | 'turn_running'
  | 'unknown_parent'
  | 'validation_failed';

/** A refusal: what happened, why, and what to do next, and the numbers behind it. */
export interface RequestRefusal {
  readonly code: RefusalCode;
  readonly detail: string;
  readonly numbers?: Readonly<Record<string, unknown>>;
}

export type Answer<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: RequestRefusal };

export const answer = <T>(value: T): Answer<T> => ({ ok: true, value });

export function refused(
  code: RefusalCode,
  detail: string,
  numbers?: Readonly<Record<string, unknown>>,
): { readonly ok: false; readonly refusal: RequestRefusal } {
  return { ok: false, refusal: { code, detail, ...(numbers ? { numbers } : {}) } };
}
