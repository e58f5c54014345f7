/**
 * Who says it. `user`: the user's own words in the turn's question, which are quoted. `rule`: the same, found in the question by code.
 * `client`: whoever uses the API on the user's behalf. `model`: a model inferred it.
 */
export type By = 'user' | 'client' | 'rule' | 'model';

/**
 * A value as it is stored and compared. Text as it was said; a number or an amount as a JSON number, or as decimal text where JSON can't
 * hold it exactly; a date as YYYY-MM-DD; an enum's own value, whatever label it was said by.
 */
export interface StateValue {
  readonly value: string | number | boolean;
  /** ISO 4217, where one was said or the field has one. */
  readonly currency?: string;
}

interface Claim {
  readonly field: string;
  /** In a set: what the value is about. A later value under the same key takes the place of the earlier. Without one the value is its own key. */
  readonly key?: string;
  readonly by: By;
  /** The words it rests on. Without them nothing counts as the user's. */
  readonly quote?: string;
  /** Of the event in its stream: the order within a node. */
  readonly revision: bigint;
}

export type Asserted = Claim & { readonly type: 'StateAsserted' } & StateValue;

/** Without a value and a key: all that the field holds. */
export type Retracted = Claim & { readonly type: 'StateRetracted' } & Partial<StateValue>;

export type Statement = Asserted | Retracted;

/** A node of a lineage, with the statements that are anchored to it, in any order. */
export interface LineageNode {
  readonly nodeId: string;
  readonly statements: readonly Statement[];
}
