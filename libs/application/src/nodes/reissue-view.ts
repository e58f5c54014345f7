import type { Usage } from '@palimpsest/conversation';
import type { UntaggedItemView, Written } from '../views';

/** One of two answers to a request. */
export interface IssuedView {
  readonly nodeId: string;
  readonly provider: string;
  readonly model: string;
  readonly status: 'succeeded' | 'failed';
  readonly answer: readonly UntaggedItemView[];
  /** Of a call that failed. */
  readonly error?: { readonly code: string; readonly detail: string };
  readonly usage: Usage | null;
  /** Of the request's bytes. */
  readonly sha256: string;
}

/** What two answers say otherwise, line by line. */
export interface AnswerDifferences {
  readonly equal: boolean;
  /** Lines of the second that the first does not have. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface ReissueView extends IssuedView, Written {
  /** The node whose request was sent again. */
  readonly of: string;
  /** Those that were recorded; false: rendered anew for another model. */
  readonly sameBytes: boolean;
  readonly original: IssuedView;
  readonly differences: AnswerDifferences;
}
