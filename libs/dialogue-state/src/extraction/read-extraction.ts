import type { Moment } from '../calendar';
import { stateLimits } from '../limits';
import { attest } from '../quote';
import { type FieldDefinition, fieldOf, type StateSchema } from '../schema';
import type { By, StateValue } from '../statement';
import { parseValue } from '../value';
import { MESSAGES, type TurnMessage } from './answer-schema';

/** What an extraction says of a field. `by` is `user` only where the quoted words stand in the question. */
export interface ExtractedStatement {
  readonly field: FieldDefinition;
  readonly by: Extract<By, 'user' | 'model'>;
  readonly content: Partial<StateValue> & { readonly key?: string; readonly quote?: string };
  /** It holds no longer. */
  readonly retract: boolean;
}

export interface ReadExtraction<Tag extends string> {
  readonly statements: readonly ExtractedStatement[];
  /** At most one for each message. */
  readonly tags: readonly { readonly message: TurnMessage; readonly tag: Tag }[];
}

export interface ExtractedTurn {
  readonly schema: StateSchema;
  readonly question: string;
  readonly moment: Moment;
}

export type ExtractionAnswer<Tag extends string> =
  { readonly ok: true; readonly found: ReadExtraction<Tag> } | { readonly ok: false; readonly detail: string };

/** Thrown within this file alone. */
class Unfit extends Error {}

/**
 * Reads an extraction's answer. One that does not fit in any place is refused as a whole: half of what a turn says may be the half that it
 * took back. `detail` names places and rules, and none of the answer's words.
 */
export function readExtraction<Tag extends string>(
  text: string,
  turn: ExtractedTurn,
  tags: readonly Tag[],
): ExtractionAnswer<Tag> {
  try {
    const answer = record(parse(text), 'The answer', ['statements', 'tags']);
    const statements = list(answer['statements'], 'statements').map((item, at) => statementIn(item, at, turn));
    const found = list(answer['tags'], 'tags').map((item, at) => tagIn(item, at, tags));
    const latest = new Map(found.map((tagged) => [tagged.message, tagged]));
    return { ok: true, found: { statements, tags: [...latest.values()] } };
  } catch (error) {
    if (error instanceof Unfit) return { ok: false, detail: error.message };
    throw error;
  }
}

function statementIn(item: unknown, at: number, { schema, question, moment }: ExtractedTurn): ExtractedStatement {
  const place = `statements[${at}]`;
  const said = record(item, place, ['field', 'holds', 'value', 'key', 'quote']);
  const field = fieldOf(schema, string(said['field'], `${place}.field`));
  if (!field) throw new Unfit(`${place}.field is none of the fields.`);
  const { holds } = said;
  if (typeof holds !== 'boolean') throw new Unfit(`${place}.holds is no boolean.`);
  const [value, key, quote] = ['value', 'key', 'quote'].map((name) => string(said[name], `${place}.${name}`).trim());
  const about = field.cardinality === 'set' && key ? { key: short(key, `${place}.key`) } : {};
  const words = quote ? { quote: short(quote, `${place}.quote`) } : {};
  const by = attest('user', words.quote, question) === 'user' ? 'user' : 'model';
  if (!value) {
    if (holds) throw new Unfit(`${place}.value is empty, and the field is said to hold one.`);
    return { field, by, content: { ...about, ...words }, retract: true };
  }
  const parsed = parseValue(field, value, moment);
  if (!parsed.ok) throw new Unfit(`${place}.value: ${parsed.detail}.`);
  return { field, by, content: { ...parsed.value, ...about, ...words }, retract: !holds };
}

function tagIn<Tag extends string>(item: unknown, at: number, tags: readonly Tag[]) {
  const place = `tags[${at}]`;
  const said = record(item, place, ['message', 'tag']);
  const message = MESSAGES.find((known) => known === said['message']);
  const tag = tags.find((known) => known === said['tag']);
  if (!message) throw new Unfit(`${place}.message is none of: ${MESSAGES.join(', ')}.`);
  if (!tag) throw new Unfit(`${place}.tag is none of: ${tags.join(', ')}.`);
  return { message, tag };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unfit('The answer is no JSON.');
  }
}

function record(value: unknown, place: string, names: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Unfit(`${place} is no object.`);
  const missing = names.find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) throw new Unfit(`${place} has no ${missing}.`);
  if (Object.keys(value).length > names.length) throw new Unfit(`${place} has more than ${names.join(', ')}.`);
  return value as Readonly<Record<string, unknown>>;
}

function list(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Unfit(`${place} is no list.`);
  const { maxExtracted } = stateLimits;
  if (value.length > maxExtracted)
    throw new Unfit(`${place} has ${value.length} entries, and may have ${maxExtracted}.`);
  return value;
}

function string(value: unknown, place: string): string {
  if (typeof value !== 'string') throw new Unfit(`${place} is no text.`);
  return value;
}

function short(text: string, place: string): string {
  const most = stateLimits.maxQuoteCharacters;
  if (text.length > most) throw new Unfit(`${place} has ${text.length} characters, and may have ${most}.`);
  return text;
}
