import type { NodeId, TurnId } from './ids';

/**
 * Who says something about the state. `user`: the user's own words, which are quoted. `rule`: the same, found in the question by code.
 * `client`: whoever uses the API on the user's behalf. `model`: a model inferred it.
 */
export type StatementBy = 'user' | 'client' | 'rule' | 'model';

/** Keyed digests that are equal where the values, currencies or keys are the same to a reader: the state is reconciled by them, unopened. */
export interface StatementDigests {
  readonly value?: string;
  readonly currency?: string;
  readonly key?: string;
}

/** What stands of a statement about the state in the clear. `libs/dialogue-state` names what is sealed. */
export interface StatementRouting {
  /** What it is anchored to; null: the root, where there is no node yet. */
  readonly nodeId: NodeId | null;
  /** The turn that it came up in; left out of a client's. */
  readonly turnId?: TurnId;
  /** The extraction that found it; left out of what was said otherwise. */
  readonly extraction?: NodeId;
  readonly field: string;
  readonly by: StatementBy;
  /** How the field counted when it was said: as the assistant's version had it. */
  readonly cardinality: 'one' | 'set';
  readonly confirm: 'stated' | 'client' | 'inferred';
  readonly digests: StatementDigests;
}

export interface AssertedContent {
  readonly value: string | number | boolean;
  readonly currency?: string;
  /** In a set: what the value is about. */
  readonly key?: string;
  /** The words that it rests on, and where they stand in the turn's question: UTF-16 units of its NFC form. */
  readonly quote?: string;
  readonly start?: number;
  readonly end?: number;
}

/** Without a value and a key: all that the field holds. */
export type RetractedContent = Partial<AssertedContent>;
