import { apply, type Record } from './apply';
import { fieldOf, type StateSchema } from './schema';
import type { LineageNode, Statement } from './statement';
import { type DialogueState, emptyState, type FieldState, type Held, nothing, type Period } from './state';

/**
 * The state at the end of a lineage, given root first. The order is that of the lineage and within a node that of `inOrder`, never that of a
 * clock or of arrival. Statements about fields that the schema does not have do nothing.
 */
export const reconcile = (lineage: readonly LineageNode[], schema: StateSchema): DialogueState =>
  lineage.reduce((state, node) => step(state, node, schema), emptyState);

/**
 * The state at a node, from the state at its parent (at its `origin`, for a compaction node) and all statements that are anchored to it.
 * Step by step it is what `reconcile` gives. The same object where the node changes nothing, so that its state need not be stored again.
 */
export function step(parent: DialogueState, node: LineageNode, schema: StateSchema): DialogueState {
  return inOrder(node.statements).reduce((state, statement) => {
    const field = fieldOf(schema, statement.field);
    if (!field) return state;
    const before = state.fields.find((known) => known.field === field.name) ?? nothing(field.name);
    return replaced(state, before, apply(before, statement, node.nodeId, field, UNHEARD));
  }, parent);
}

/** A period as history tells it. `standing` is what it is now or was until its end. */
export interface HistoryEntry extends Period {
  readonly standing: 'confirmed' | 'proposed';
}

/** Every period of a field on a lineage, in the order in which they began. One without `to` lasts. */
export function history(lineage: readonly LineageNode[], schema: StateSchema, name: string): readonly HistoryEntry[] {
  const field = fieldOf(schema, name);
  if (!field) return [];
  const entries: HistoryEntry[] = [];
  const places = new Map<Period, number>();
  const record: Record = (before, after) => {
    const place = before === null ? entries.length : (places.get(before) ?? entries.length);
    const standing = entries[place]?.standing ?? ('superseded' in after ? 'confirmed' : 'proposed');
    const { superseded: _, ...period } = after as Held;
    entries[place] = { ...period, standing };
    places.set(after, place);
  };
  let state = nothing(name);
  for (const { nodeId, statements } of lineage) {
    const own = statements.filter((statement) => statement.field === name);
    for (const statement of inOrder(own)) state = apply(state, statement, nodeId, field, record);
  }
  return entries;
}

/**
 * The statements of a node in the order in which they count: what the user's question says comes first, since the node's call answered it,
 * however late it was read out of it; then what came up at the node. Each by its revision.
 */
export const inOrder = (statements: readonly Statement[]): readonly Statement[] =>
  statements.toSorted((a, b) => rank(a) - rank(b) || (a.revision < b.revision ? -1 : a.revision > b.revision ? 1 : 0));

const rank = ({ by }: Statement): number => (by === 'user' || by === 'rule' ? 0 : 1);

const UNHEARD: Record = () => {};

function replaced(state: DialogueState, before: FieldState, after: FieldState): DialogueState {
  if (after === before) return state;
  const others = state.fields.filter(({ field }) => field !== after.field);
  return { fields: [...others, after].sort((a, b) => (a.field < b.field ? -1 : 1)) };
}
