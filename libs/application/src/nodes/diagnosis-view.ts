import type { Coverage } from '@palimpsest/context';

/** What a request is made of, in tokens, by estimate. */
export type PartTokens = Readonly<
  Record<'frame' | 'system' | 'tools' | 'summary' | 'window' | 'state' | 'turn', number>
>;

export interface LengthEvidence {
  /** As the provider reported them; null until it answers. */
  readonly inputTokens: number | null;
  /** Before the call. */
  readonly estimatedTokens: number | null;
  readonly inputCap: number | null;
  readonly parts: PartTokens;
  readonly bytes: number;
  /** Of `bytes`, shared with the request before. */
  readonly repeatedBytes: number;
  /** Tokens from which on the oldest messages are summarised or compacted; null: nothing is. */
  readonly threshold: number | null;
  /** Of what the request holds word by word, until now; null: none failed. */
  readonly failedSummaries: FailedSummaries | null;
}

export interface FailedSummaries {
  readonly count: number;
  readonly last: { readonly nodeId: string; readonly reason: string | null };
}

/** A confirmed value whose words the request does not hold any more. */
export interface ValueEvidence {
  readonly field: string;
  readonly kind: string;
  readonly value: string | number | boolean;
  /** Where it was said. */
  readonly nodeId: string;
  /** What became of the question there. */
  readonly coverage: Coverage;
  readonly inSummary: boolean;
  readonly inState: boolean;
}

/** `unrecorded`: a rule reads a value in the question that the state there does not have. */
export interface UpdateEvidence {
  readonly what: 'unrecorded' | 'unsettled' | 'extraction_failed' | 'extraction_late';
  readonly nodeId: string;
  readonly field?: string;
  readonly reason?: string;
}

export interface Finding<T> {
  readonly answer: 'yes' | 'no' | 'unknown';
  readonly evidence: readonly T[];
}

/** An operator's three questions about a request. */
export interface DiagnosisView {
  readonly nodeId: string;
  readonly historyTooLong: Finding<LengthEvidence>;
  readonly summaryLostValue: Finding<ValueEvidence>;
  readonly stateNotUpdated: Finding<UpdateEvidence>;
}
