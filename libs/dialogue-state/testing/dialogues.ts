import type {
  DialogueState,
  FieldDefinition,
  LineageNode,
  Statement,
  StateSchema,
  StateValue,
} from '@palimpsest/dialogue-state';
import { seeded } from './seeded';

type Scalar = StateValue['value'];

/** A task dialogue with the true state after each turn. A list is what a field for several values holds. */
export interface GoldDialogue {
  readonly dialogueId: string;
  /** Left out: each slot is a text, for one value or for several as the states show. */
  readonly schema?: unknown;
  readonly turns: readonly GoldTurn[];
}

export interface GoldTurn {
  readonly user: string;
  readonly system: string;
  readonly state: Readonly<Record<string, Scalar | readonly Scalar[]>>;
}

/** Reads a dialogue whose form is not known to be right. */
export function schemaFor({ turns }: GoldDialogue): StateSchema {
  const slots = new Map<string, FieldDefinition>();
  for (const [name, value] of turns.flatMap(({ state }) => Object.entries(state))) {
    const cardinality = Array.isArray(value) || slots.get(name)?.cardinality === 'set' ? 'set' : 'one';
    slots.set(name, { name, type: 'text', kind: 'fact', cardinality, confirm: 'stated', labels: {}, aliases: [] });
  }
  return { fields: [...slots.values()] };
}

/** The true statements of a turn: what it adds to the state before it and what it takes away. They count as a client's. */
export function truthOf(before: GoldTurn['state'], after: GoldTurn['state'], revision: bigint): readonly Statement[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const statements = names.flatMap((field): Draft[] => {
    const [had, has] = [before[field], after[field]];
    if (!Array.isArray(had ?? has)) {
      if (had === has) return [];
      return has === undefined
        ? [{ type: 'StateRetracted', field }]
        : [{ type: 'StateAsserted', field, value: has as Scalar }];
    }
    const [old, now] = [(had ?? []) as readonly Scalar[], (has ?? []) as readonly Scalar[]];
    return [
      ...old
        .filter((value) => !now.includes(value))
        .map((value) => ({ type: 'StateRetracted', field, value }) as const),
      ...now.filter((value) => !old.includes(value)).map((value) => ({ type: 'StateAsserted', field, value }) as const),
    ];
  });
  return statements.map((statement, at) => ({ ...statement, by: 'client', revision: revision + BigInt(at) }));
}

type Draft =
  | { readonly type: 'StateAsserted'; readonly field: string; readonly value: Scalar }
  | { readonly type: 'StateRetracted'; readonly field: string; readonly value?: Scalar };

/** A node for each turn, root first. */
export function lineageFor({ dialogueId, turns }: GoldDialogue): readonly LineageNode[] {
  return turns.map(({ state }, at) => ({
    nodeId: `${dialogueId}/${at}`,
    statements: truthOf(turns[at - 1]?.state ?? {}, state, BigInt(at) * 1_000n),
  }));
}

/** What a state holds, in the form of a gold state; values of a set in order. */
export function goldOf({ fields }: DialogueState, schema: StateSchema): GoldTurn['state'] {
  const held = fields.flatMap(({ field, values }) => {
    if (values.length === 0) return [];
    const all = values.map(({ value }) => value);
    const isSet = schema.fields.some(({ name, cardinality }) => name === field && cardinality === 'set');
    return [[field, isSet ? all : (all.at(-1) ?? '')] as const];
  });
  return sorted(Object.fromEntries(held));
}

/** A gold state without its empty lists, in one order. */
export const sorted = (state: GoldTurn['state']): GoldTurn['state'] =>
  Object.fromEntries(
    Object.entries(state)
      .filter(([, value]) => !Array.isArray(value) || value.length > 0)
      .map(([name, value]) => [name, Array.isArray(value) ? value.toSorted() : value] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

/**
 * The dialogue up to a turn, and then one turn for each that is cut off, in which every slot becomes a value that is found nowhere else.
 * Where a slot has no room for such a value (an enum, a yes or no) it stays as it was.
 */
export function otherBranch(dialogue: GoldDialogue, cut: number, schema = schemaFor(dialogue)): GoldDialogue {
  const { dialogueId, turns } = dialogue;
  const others = turns.slice(cut).map((turn, at) => ({
    ...turn,
    state: Object.fromEntries(
      schema.fields.flatMap((field) => {
        const canary = canaryOf(field, `${dialogueId} ${at} ${field.name}`);
        if (canary === undefined) return field.name in turn.state ? [[field.name, turn.state[field.name] ?? '']] : [];
        return [[field.name, field.cardinality === 'set' ? [canary] : canary]];
      }),
    ),
  }));
  return { dialogueId: `${dialogueId}-other`, turns: [...turns.slice(0, cut), ...others] };
}

/** What to look for, as a person reads it, where nothing of the other branch may be found. */
export function canariesOf({ turns }: GoldDialogue, cut: number, schema: StateSchema): readonly string[] {
  const free = new Set(schema.fields.filter(({ type }) => !/^(enum|boolean)$/.test(type)).map(({ name }) => name));
  return turns.slice(cut).flatMap(({ state }) =>
    Object.entries(state)
      .filter(([name]) => free.has(name))
      .flatMap(([, value]) => value)
      .flatMap((value) => (typeof value === 'number' ? [String(value), value.toLocaleString('en-US')] : String(value))),
  );
}

function canaryOf({ type }: FieldDefinition, place: string): Scalar | undefined {
  const number = Math.floor(
    seeded([...place].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7))() * 1e9,
  );
  switch (type) {
    case 'text':
      return `canary ${place}`;
    case 'money':
    case 'number':
      return 5_000_000_000 + number;
    case 'date':
      return `${2700 + (number % 300)}-${String(1 + (number % 12)).padStart(2, '0')}-${10 + (number % 18)}`;
    case 'enum':
    case 'boolean':
      return undefined;
  }
}
