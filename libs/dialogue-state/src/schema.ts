/** What can be known of a dialogue. A schema belongs to an assistant's version and never changes under it. */
export interface StateSchema {
  /** In the order in which the state block shows them. */
  readonly fields: readonly FieldDefinition[];
}

export const FIELD_TYPES = ['text', 'number', 'money', 'date', 'enum', 'boolean'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

export const CARDINALITIES = ['one', 'set'] as const;
export type Cardinality = (typeof CARDINALITIES)[number];

export const FIELD_KINDS = ['goal', 'constraint', 'choice', 'fact', 'preference', 'instruction'] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

/**
 * How a value is confirmed. `stated`: the user or a client says it. `client`: a client says it; the user's own words are a proposal until
 * then. `inferred`: a model's inference counts too, but for a value that the user or a client stated.
 */
export const CONFIRMATIONS = ['stated', 'client', 'inferred'] as const;
export type Confirmation = (typeof CONFIRMATIONS)[number];

/** Texts by language (`en`, `ko`). */
export type Labels = Readonly<Record<string, string>>;

export interface FieldDefinition {
  readonly name: string;
  readonly type: FieldType;
  readonly cardinality: Cardinality;
  readonly kind: FieldKind;
  readonly labels: Labels;
  readonly confirm: Confirmation;
  /** What else people call it, in any language. Only the scanner of questions reads this. */
  readonly aliases: readonly string[];
  /** Of an enum: what it can be. */
  readonly values?: readonly EnumValue[];
  /** Of a money field: the ISO 4217 code that an amount without a currency is in. */
  readonly currency?: string;
  /** Of a number field: words for what is counted ("people", "명"), in any language. */
  readonly units?: readonly string[];
}

export interface EnumValue {
  readonly value: string;
  readonly labels: Labels;
}

export const fieldOf = (schema: StateSchema, name: string): FieldDefinition | undefined =>
  schema.fields.find((field) => field.name === name);

/** `ko-KR` is `ko`. */
export const languageOf = (locale: string): string => locale.split(/[-_]/, 1)[0]?.toLowerCase() ?? '';

/** The text for a locale: its language's, else the English one, else the name itself. */
export function labelOf(labels: Labels, locale: string, name: string): string {
  const own = (language: string) => (Object.hasOwn(labels, language) ? labels[language] : undefined);
  return own(languageOf(locale)) ?? own('en') ?? name;
}
