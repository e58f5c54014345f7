import type { RefusalCode } from '@palimpsest/application';

/** What the edge itself refuses. */
type EdgeCode =
  | 'forbidden'
  | 'internal_error'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'not_ready'
  | 'payload_too_large'
  | 'request_timeout'
  | 'unauthorized'
  | 'unsupported_media_type';

export type ProblemCode = RefusalCode | EdgeCode;

interface Kind {
  readonly status: number;
  readonly title: string;
  /** Seconds after which the same request may go through. */
  readonly retryAfter?: number;
}

/** The one place where refusals meet HTTP. The compiler asks for a line when a code is added. */
export const problemKinds: Readonly<Record<ProblemCode, Kind>> = {
  already_decided: { status: 409, title: 'The tool call awaits no decision' },
  approval_mismatch: { status: 409, title: 'The decision is about other arguments' },
  before_compaction: { status: 409, title: 'The question is from before a compaction' },
  before_start: { status: 404, title: 'The conversation had not begun' },
  nothing_to_compact: { status: 409, title: 'Nothing to compact' },
  no_context: { status: 409, title: 'Nothing was said yet' },
  no_exact_request: { status: 409, title: 'No exact request is known' },
  behind: { status: 503, title: 'The read model is behind', retryAfter: 1 },
  cleared: { status: 409, title: 'The conversation was cleared since' },
  context_too_large: { status: 409, title: 'The context does not fit the model' },
  forbidden: { status: 403, title: 'This API key lacks the role' },
  generation_live: { status: 409, title: 'Queries read this generation' },
  has_dependents: { status: 409, title: 'Other conversations grow from this one' },
  idempotency_conflict: { status: 409, title: 'The Idempotency-Key belongs to another body' },
  importing: { status: 409, title: 'The import has not ended' },
  in_source: { status: 409, title: 'That belongs to the conversation that this one grows from' },
  internal_error: { status: 500, title: 'Something broke here' },
  key_lost: { status: 503, title: 'The key of this content is lost' },
  log_damaged: { status: 503, title: 'The log is damaged here' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  not_acceptable: { status: 406, title: 'No representation fits the Accept header' },
  node_pending: { status: 409, title: 'The call has not ended' },
  not_found: { status: 404, title: 'Not found' },
  not_reissuable: { status: 409, title: 'This request is not sent again' },
  not_ready: { status: 503, title: 'Not ready', retryAfter: 1 },
  not_switchable: { status: 409, title: 'The head cannot go there' },
  outcome_unknown: { status: 503, title: 'The outcome is unknown', retryAfter: 1 },
  payload_too_large: { status: 413, title: 'The request is too large' },
  query_failed: { status: 500, title: 'The query of this projection failed' },
  rebuild_running: { status: 409, title: 'A rebuild of this projection runs' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  revision_conflict: { status: 409, title: 'Somebody else was first' },
  sealed: { status: 410, title: 'The content was erased' },
  shutting_down: { status: 503, title: 'Shutting down', retryAfter: 5 },
  too_many_turns: { status: 429, title: 'Too many turns run', retryAfter: 1 },
  tool_unavailable: { status: 503, title: 'A tool cannot be had now', retryAfter: 5 },
  turn_running: { status: 409, title: 'A turn runs' },
  unauthorized: { status: 401, title: 'No valid API key' },
  unknown_parent: { status: 404, title: 'The parent is not in this conversation' },
  unsupported_media_type: { status: 415, title: 'The body is not JSON' },
  validation_failed: { status: 400, title: 'The request is not valid' },
};
