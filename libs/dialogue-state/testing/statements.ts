import type {
  Asserted,
  FieldDefinition,
  LineageNode,
  Retracted,
  Statement,
  StateSchema,
} from '@palimpsest/dialogue-state';

/** Short names for schemas, statements and lineages, for tests. */
export const field = (name: string, more: Partial<FieldDefinition> = {}): FieldDefinition => ({
  name,
  type: 'text',
  cardinality: 'one',
  kind: 'fact',
  confirm: 'stated',
  labels: {},
  aliases: [],
  ...more,
});

export const schemaOf = (...fields: readonly FieldDefinition[]): StateSchema => ({ fields });

let revision = 0n;
const next = (): bigint => revision++;

type Value = Asserted['value'];

export const user = (name: string, value: Value, more: Partial<Asserted> = {}): Asserted => ({
  type: 'StateAsserted',
  field: name,
  value,
  by: 'user',
  quote: String(value),
  revision: next(),
  ...more,
});

export const model = (name: string, value: Value, more: Partial<Asserted> = {}): Asserted => {
  const { quote: _, ...claim } = user(name, value);
  return { ...claim, by: 'model', ...more };
};

export const client = (name: string, value: Value, more: Partial<Asserted> = {}): Asserted =>
  model(name, value, { by: 'client', ...more });

export const retracts = (name: string, more: Partial<Retracted> = {}): Retracted => ({
  type: 'StateRetracted',
  field: name,
  by: 'client',
  revision: next(),
  ...more,
});

/** Nodes n1, n2, ..., root first, with what was said at each. */
export const lineageOf = (...nodes: readonly (readonly Statement[])[]): readonly LineageNode[] =>
  nodes.map((statements, at) => ({ nodeId: `n${at + 1}`, statements }));
