import type { By, StateValue } from './statement';

/** The standing of every field at a node. Plain JSON: it is materialised as it is. Fields that nothing was said about are not in it. */
export interface DialogueState {
  /** In the order of their names. */
  readonly fields: readonly FieldState[];
}

export interface FieldState {
  readonly field: string;
  /** Confirmed and valid, in the order in which they became so. At most one, but in a set. */
  readonly values: readonly Held[];
  /** Inferred, and waiting for a word of the user: the latest of each key, at most `keptProposals`. */
  readonly proposed: readonly Period[];
  /** What was retracted and has no successor, at most the last `keptPeriods`. */
  readonly retracted: readonly Period[];
}

/** Where words stand. */
export interface Source {
  readonly nodeId: string;
  readonly quote?: string;
}

/** A time on the lineage during which a value held or was proposed. */
export interface Period extends StateValue {
  readonly key?: string;
  readonly by: By;
  readonly from: Source;
  /** Where it was said again last. */
  readonly affirmed?: Source;
  /** Absent while it lasts. */
  readonly to?: Ending;
}

export interface Ending extends Source {
  readonly how: 'superseded' | 'retracted' | 'confirmed';
}

export interface Held extends Period {
  /** What stood in its place before, the last one first, at most `keptPeriods`. */
  readonly superseded: readonly Period[];
}

export const emptyState: DialogueState = { fields: [] };

export const nothing = (field: string): FieldState => ({ field, values: [], proposed: [], retracted: [] });
