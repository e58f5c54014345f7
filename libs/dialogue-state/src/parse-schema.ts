import { stateLimits } from './limits';
import { isCurrency } from './money';
import {
  CARDINALITIES,
  CONFIRMATIONS,
  type EnumValue,
  FIELD_KINDS,
  FIELD_TYPES,
  type FieldDefinition,
  type Labels,
  type StateSchema,
} from './schema';
import { fold, oneLine } from './text';

/** Where in what was given, as an RFC 6901 pointer, and what to change there. */
export interface SchemaProblem {
  readonly pointer: string;
  readonly detail: string;
}

export type ParsedSchema =
  | { readonly ok: true; readonly schema: StateSchema }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/**
 * Reads a schema that a user of the API gives: `{fields: [{name, type, kind, cardinality?, confirm?, labels?, aliases?, values?, currency?,
 * units?}]}`. By default a field is for one value, confirmed when it is stated. Values of an enum are texts or `{value, labels?}`. Tells all
 * that is wrong at once.
 */
export function parseSchema(input: unknown): ParsedSchema {
  const reader = new Reader();
  const given = reader.object(input, '', ['fields']);
  const fields = reader.list(given['fields'], '/fields', stateLimits.maxFields).map((field, at) => {
    return readField(reader, field, `/fields/${at}`);
  });
  reader.unique(fields, ({ name }) => fold(name), '/fields', 'name');
  return reader.problems.length > 0 ? { ok: false, problems: reader.problems } : { ok: true, schema: { fields } };
}

const KNOWN = ['name', 'type', 'kind', 'cardinality', 'confirm', 'labels', 'aliases', 'values', 'currency', 'units'];

/** It stands in the clear in events and in queries: words, digits, spaces, and . _ - within. */
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._-]*[\p{L}\p{M}\p{N}])?$/u;

function readField(reader: Reader, input: unknown, at: string): FieldDefinition {
  const given = reader.object(input, at, KNOWN);
  const name = reader.text(given['name'], `${at}/name`);
  if (name !== '' && !NAME.test(name)) {
    reader.fault(`${at}/name`, 'has letters, digits, spaces and . _ - only, with a letter or a digit at both ends');
  }
  const type = reader.oneOf(given['type'], FIELD_TYPES, `${at}/type`);
  const of = (key: 'values' | 'currency' | 'units', owner: string): boolean => {
    if (given[key] === undefined) return false;
    if (type !== owner) reader.fault(`${at}/${key}`, `is for fields of type ${owner}, and this one is of type ${type}`);
    return type === owner;
  };
  if (type === 'enum' && given['values'] === undefined) reader.fault(`${at}/values`, 'is required for an enum');
  return {
    name,
    type,
    kind: reader.oneOf(given['kind'], FIELD_KINDS, `${at}/kind`),
    cardinality: reader.oneOf(given['cardinality'], CARDINALITIES, `${at}/cardinality`, 'one'),
    confirm: reader.oneOf(given['confirm'], CONFIRMATIONS, `${at}/confirm`, 'stated'),
    labels: reader.labels(given['labels'], `${at}/labels`),
    aliases: reader.texts(given['aliases'], `${at}/aliases`),
    ...(of('values', 'enum') ? { values: readChoices(reader, given['values'], `${at}/values`) } : {}),
    ...(of('currency', 'money') ? { currency: readCurrency(reader, given['currency'], `${at}/currency`) } : {}),
    ...(of('units', 'number') ? { units: reader.texts(given['units'], `${at}/units`) } : {}),
  };
}

function readChoices(reader: Reader, input: unknown, at: string): readonly EnumValue[] {
  const choices = reader.list(input, at, stateLimits.maxEntries).map((choice, index) => {
    const here = `${at}/${index}`;
    if (typeof choice === 'string') return { value: reader.text(choice, here), labels: {} };
    const given = reader.object(choice, here, ['value', 'labels']);
    return {
      value: reader.text(given['value'], `${here}/value`),
      labels: reader.labels(given['labels'], `${here}/labels`),
    };
  });
  if (choices.length === 0) reader.fault(at, 'has at least one value');
  reader.unique(choices, ({ value }) => fold(value), at, 'value');
  return choices;
}

function readCurrency(reader: Reader, input: unknown, at: string): string {
  const code = reader.text(input, at);
  if (code !== '' && !isCurrency(code)) reader.fault(at, 'is an ISO 4217 code, such as KRW or USD');
  return code;
}

class Reader {
  readonly problems: SchemaProblem[] = [];

  fault(pointer: string, detail: string): void {
    this.problems.push({ pointer, detail });
  }

  object(input: unknown, at: string, known: readonly string[]): Readonly<Record<string, unknown>> {
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      this.fault(at, 'is an object');
      return {};
    }
    for (const key of Object.keys(input)) {
      if (!known.includes(key)) this.fault(`${at}/${escaped(key)}`, `is not known; known are ${known.join(', ')}`);
    }
    return input as Record<string, unknown>;
  }

  list(input: unknown, at: string, most: number): readonly unknown[] {
    if (!Array.isArray(input)) {
      this.fault(at, 'is a list');
      return [];
    }
    if (input.length > most) this.fault(at, `has ${input.length} entries, and may have ${most}`);
    return input.slice(0, most);
  }

  text(input: unknown, at: string): string {
    const most = stateLimits.maxNameCharacters;
    if (typeof input !== 'string') this.fault(at, 'is a text');
    else if (fold(input) === '') this.fault(at, 'is not empty');
    else if (input.length > most) this.fault(at, `has ${input.length} characters, and may have ${most}`);
    else if (oneLine(input) !== input) this.fault(at, 'is one line, without white space around it');
    else return input;
    return '';
  }

  texts(input: unknown, at: string): readonly string[] {
    if (input === undefined) return [];
    return this.list(input, at, stateLimits.maxEntries).map((text, index) => this.text(text, `${at}/${index}`));
  }

  oneOf<T extends string>(input: unknown, all: readonly T[], at: string, otherwise?: T): T {
    const found = input === undefined ? otherwise : all.find((known) => known === input);
    if (found === undefined) this.fault(at, `is one of ${all.join(', ')}`);
    return found ?? (all[0] as T);
  }

  labels(input: unknown, at: string): Labels {
    if (input === undefined) return {};
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      this.fault(at, 'is an object of texts by language, such as {"en": "budget", "ko": "예산"}');
      return {};
    }
    const read = Object.entries(input).map(([language, label]) => {
      const here = `${at}/${escaped(language)}`;
      if (!/^[a-z]{2,3}$/.test(language)) this.fault(here, 'is named by a language code, such as en or ko');
      return [language, this.text(label, here)] as const;
    });
    return Object.fromEntries(read);
  }

  unique<T>(all: readonly T[], keyOf: (entry: T) => string, at: string, name: string): void {
    const seen = new Set<string>();
    all.forEach((entry, index) => {
      const key = keyOf(entry);
      if (key !== '' && seen.has(key)) this.fault(`${at}/${index}/${name}`, 'stands in the list already');
      seen.add(key);
    });
  }
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
