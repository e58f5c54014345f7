import type { EventOf, StatementDigests, StatementRouting } from '@palimpsest/conversation';
import {
  type DialogueState,
  emptyState,
  type FieldDefinition,
  inOrder,
  type Period,
  type Statement,
  step,
} from '@palimpsest/dialogue-state';

/** Where a statement stands: `<conversationId>@<revision>`. */
export type Reference = string;

/** A statement as the log shows it without being opened. */
export interface SaidStatement extends Omit<StatementRouting, 'nodeId' | 'turnId'> {
  readonly type: 'StateAsserted' | 'StateRetracted';
  readonly conversationId: string;
  /** Decimal. */
  readonly revision: string;
}

/**
 * A state that was reconciled by digests alone. In `state` a digest stands for each value, currency and key, and a reference for each quote.
 * `terms`: by the digest of a currency or a key, where it was last said.
 */
export interface Reconciled {
  readonly state: DialogueState;
  readonly terms: Readonly<Record<string, Reference>>;
}

export const NOTHING_SAID: Reconciled = { state: emptyState, terms: {} };

export function saidOf(
  { type, data }: EventOf<'StateAsserted' | 'StateRetracted'>,
  conversationId: string,
  revision: bigint,
): SaidStatement {
  const { field, by, cardinality, confirm, digests } = data;
  return { type, conversationId, revision: String(revision), field, by, cardinality, confirm, digests };
}

export const referenceOf = ({ conversationId, revision }: SaidStatement): Reference => `${conversationId}@${revision}`;

/** The state after what is anchored to one node, from the state before it. */
export function reconciledAt(before: Reconciled, nodeId: string, said: readonly SaidStatement[]): Reconciled {
  const bySaid = new Map(said.map((one) => [statementOf(one), one]));
  const ordered = inOrder([...bySaid.keys()]);
  const state = ordered.reduce((known, statement) => {
    const fields = [fieldOf(bySaid.get(statement) as SaidStatement)];
    return step(known, { nodeId, statements: [statement] }, { fields });
  }, before.state);
  const terms = { ...before.terms };
  for (const statement of ordered) {
    const { digests, ...one } = bySaid.get(statement) as SaidStatement;
    for (const digest of termsOf(digests)) terms[digest] = referenceOf({ digests, ...one });
  }
  const kept = new Set(periodsOf(state).flatMap(({ currency, key }) => [currency, key]));
  return { state, terms: Object.fromEntries(Object.entries(terms).filter(([digest]) => kept.has(digest))) };
}

/** Every period that a state holds. */
export const periodsOf = ({ fields }: DialogueState): readonly Period[] =>
  fields.flatMap(({ values, proposed, retracted }) => [
    ...values.flatMap((held): readonly Period[] => [held, ...held.superseded]),
    ...proposed,
    ...retracted,
  ]);

const termsOf = ({ currency, key }: StatementDigests): readonly string[] =>
  [currency, key].filter((digest) => digest !== undefined);

/** As the rules of `libs/dialogue-state` take it: they compare what it says, and never look at what it means. */
function statementOf(said: SaidStatement): Statement {
  const { type, revision, field, by, digests } = said;
  const { value, ...terms } = digests;
  const claim = { field, by, ...terms, quote: referenceOf(said), revision: BigInt(revision) };
  return type === 'StateAsserted'
    ? { ...claim, type, value: value ?? '' }
    : { ...claim, type, ...(value !== undefined && { value }) };
}

const fieldOf = ({ field, cardinality, confirm }: SaidStatement): FieldDefinition => ({
  ...{ name: field, type: 'text', kind: 'fact', labels: {}, aliases: [] },
  ...{ cardinality, confirm },
});
