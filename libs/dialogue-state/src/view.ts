import type { FieldKind, StateSchema } from './schema';
import type { StateValue } from './statement';
import { type DialogueState, nothing, type Period, type Source } from './state';

/** A value of a field with its standing, as the API shows it. A set has a row for each of its values. */
export interface FieldView {
  readonly field: string;
  readonly kind: FieldKind;
  readonly standing: 'confirmed' | 'proposed' | 'retracted';
  readonly value: StateValue['value'];
  readonly currency?: string;
  readonly key?: string;
  readonly source: Source;
  /** What stood in its place before, the last one first. */
  readonly superseded: readonly (StateValue & { readonly nodeId: string })[];
}

/**
 * The rows of a state: fields in the order of the schema, in each the confirmed values, the proposed, the retracted. What the schema does
 * not have is not shown, and of a field for one value only the latest, even where an older schema let it hold several.
 */
export function viewOf(state: DialogueState, schema: StateSchema): readonly FieldView[] {
  return schema.fields.flatMap(({ name, kind, cardinality }) => {
    const { values, proposed, retracted } = state.fields.find(({ field }) => field === name) ?? nothing(name);
    const row = (standing: FieldView['standing'], period: Period, superseded: readonly Period[] = []): FieldView => ({
      field: name,
      kind,
      standing,
      ...shown(period),
      ...(period.key === undefined ? {} : { key: period.key }),
      source: standing === 'retracted' && period.to ? sourceOf(period.to) : period.from,
      superseded: superseded.map((old) => ({ ...shown(old), nodeId: old.from.nodeId })),
    });
    const latest = <T>(all: readonly T[]) => (cardinality === 'one' ? all.slice(-1) : all);
    return [
      ...latest(values).map((held) => row('confirmed', held, held.superseded)),
      ...latest(proposed).map((period) => row('proposed', period)),
      ...latest(retracted).map((period) => row('retracted', period)),
    ];
  });
}

const shown = ({ value, currency }: Period): StateValue => ({
  value,
  ...(currency === undefined ? {} : { currency }),
});

const sourceOf = ({ nodeId, quote }: Source): Source => ({ nodeId, ...(quote === undefined ? {} : { quote }) });
