import type { Moment } from './calendar';
import { stateLimits } from './limits';
import {
  amounts,
  ASKS,
  ASKS_FOR_CHANGE_KO,
  CHANGE_WORDS,
  CHANGES_BEFORE,
  changesAfter,
  dates,
  DROPS_AFTER,
  DROPS_AFTER_ANY_MORE,
  DROPS_AFTER_KO,
  DROPS_BEFORE,
  DROPS_NEEDS_ANY_MORE,
  JOINS_KO,
  KIND_WORDS,
  mentions,
  namesOf,
  NOT_PLAIN,
  NOT_PLAIN_KO,
  NOT_VALUE_AFTER,
  numbers,
  STATES_BEFORE,
  statesAfter,
  VALUE_AFTER_KO,
  valueSource,
} from './scan-patterns';
import type { FieldDefinition, StateSchema } from './schema';
import type { StateValue } from './statement';
import { anyOf, fold } from './text';
import { parseValue } from './value';

/** What a question plainly says about a field: its value, or that it holds no longer. */
export type ScanHit = {
  readonly field: string;
  /** The words, from the question's NFC form; `start` and `end` count its UTF-16 units. */
  readonly quote: string;
  readonly start: number;
  readonly end: number;
} & (({ readonly retract?: never } & StateValue) | { readonly retract: true });

export interface Scan {
  /** In the order of the text: where two are about one field, the later one counts. */
  readonly hits: readonly ScanHit[];
  /** Fields that the question may change in words that no rule could read, in the order of the schema. */
  readonly mayChange: readonly string[];
}

/**
 * Reads a question for values of typed fields, in English and Korean, by rules. It takes what is said plainly ("my budget is 20,000",
 * "예산은 2만원으로 바꿔줘", "I no longer need the deadline") and leaves the rest to extraction: suppositions, reports, denials, ranges,
 * questions. What it leaves it names as a field that may change. Linear in the length of the text.
 */
export function scanQuestion(question: string, schema: StateSchema, moment: Moment): Scan {
  const text = readable(question);
  const fields = schema.fields.map((field) => new ScannedField(field, moment));
  const hits: ScanHit[] = [];
  const unclear = new Set<string>();
  const named = byName(fields);
  let looked = 0;
  for (const mention of text.matchAll(mentions(schema.fields.flatMap(namesOf)))) {
    const meant = named.get(fold(mention[0])) ?? [];
    const place =
      looked++ < stateLimits.maxMentions &&
      new Place(text, mention.index, mention.index + mention[0].length, hits.at(-1)?.end);
    const hit = place && meant.length === 1 ? meant[0]?.read(place) : undefined;
    if (hit) hits.push(hit);
    else if (!place || !place.onlyAsks()) meant.forEach((field) => unclear.add(field.name));
  }
  hintByForm(text, schema, hits, unclear);
  return { hits, mayChange: schema.fields.map(({ name }) => name).filter((name) => unclear.has(name)) };
}

function byName(fields: readonly ScannedField[]): ReadonlyMap<string, readonly ScannedField[]> {
  const named = new Map<string, ScannedField[]>();
  for (const field of fields) for (const name of field.names) named.set(name, [...(named.get(name) ?? []), field]);
  return named;
}

/** Full-width letters and digits are the plain ones, at the same offsets. */
const readable = (question: string): string =>
  question.normalize('NFC').replace(/[！-～]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0));

/** A mention of a field, with as much around it as a rule looks at. */
class Place {
  readonly sentence: string;
  readonly clause: string;
  readonly tail: string;

  constructor(
    readonly text: string,
    readonly start: number,
    readonly end: number,
    /** Where what was read before ends, if anything was. */
    readEnd = 0,
  ) {
    const from = Math.max(0, start - REACH);
    const before = text.slice(from, start);
    const cut = lastEnd(before, SENTENCE_END);
    // Too far from its beginning to be read as a plain sentence.
    this.sentence = cut === 0 && from > 0 ? `"${before}` : before.slice(cut);
    // In Korean nothing but the end of a word parts two clauses: it counts where the one before was read.
    const joined = JOINS_KO.test(text.slice(readEnd, start));
    this.clause = joined ? '' : this.sentence.slice(lastEnd(this.sentence, CLAUSE_END));
    this.tail = text.slice(end, end + REACH);
  }

  /** The rest of the sentence after an offset of the tail, with the mark that ends it. */
  rest(after: number): string {
    return /^[^.!?？\n]{0,60}[!?？]?/u.exec(this.tail.slice(after))?.[0] ?? '';
  }

  onlyAsks(): boolean {
    const rest = this.rest(0);
    const sentence = this.sentence + rest;
    return /[?？]$/u.test(rest) && ASKS.test(sentence) && !CHANGE_WORDS.test(sentence) && !/\d/.test(rest);
  }
}

const REACH = 120;
const SENTENCE_END = /[!?？。\n;]|\.(?=\s)/gu;

const CLAUSE_END = /[,:]\s|\s(?:and|but)\s+(?=(?:my|our|the)\s)/giu;

function lastEnd(text: string, ends: RegExp): number {
  let end = 0;
  for (const found of text.matchAll(ends)) end = found.index + found[0].length;
  return end;
}

class ScannedField {
  readonly name: string;
  readonly names: ReadonlySet<string>;
  private readonly states: RegExp | undefined;
  private readonly changes: RegExp | undefined;

  constructor(
    private readonly field: FieldDefinition,
    private readonly moment: Moment,
  ) {
    const source = valueSource(field);
    this.name = field.name;
    this.names = new Set(namesOf(field).map(fold));
    this.states = source === undefined ? undefined : statesAfter(source);
    this.changes = source === undefined ? undefined : changesAfter(source);
  }

  read(place: Place): ScanHit | undefined {
    return this.dropped(place) ?? this.changed(place) ?? this.stated(place);
  }

  private dropped(place: Place): ScanHit | undefined {
    const { sentence, clause, tail, start, end } = place;
    const before = DROPS_BEFORE.exec(clause);
    if (before && !NOT_PLAIN.test(sentence.slice(0, sentence.length - clause.length))) {
      const after = (DROPS_NEEDS_ANY_MORE.test(clause) ? DROPS_AFTER_ANY_MORE : DROPS_AFTER).exec(tail);
      if (after) return this.hit(place, start - before[0].trimStart().length, end, { retract: true });
    }
    const after = DROPS_AFTER_KO.exec(tail);
    if (!after || !STATES_BEFORE.test(clause) || NOT_PLAIN.test(sentence)) return undefined;
    const rest = place.rest(after[0].length);
    if (/[?？]$/u.test(rest) || NOT_PLAIN_KO.test(rest)) return undefined;
    return this.hit(place, start, end + after[0].length, { retract: true });
  }

  private changed(place: Place): ScanHit | undefined {
    const before = CHANGES_BEFORE.exec(place.clause);
    if (!before || !this.changes || NOT_PLAIN.test(place.sentence)) return undefined;
    const found = this.changes.exec(place.tail);
    if (!found || NOT_VALUE_AFTER.test(place.tail.slice(found[0].length).replace(/^\s*\?/, ''))) return undefined;
    return this.valued(place, place.start - before[0].trimStart().length, found);
  }

  private stated(place: Place): ScanHit | undefined {
    if (!this.states || !STATES_BEFORE.test(place.clause) || NOT_PLAIN.test(place.sentence)) return undefined;
    const found = this.states.exec(place.tail);
    if (!found) return undefined;
    const rest = place.rest(found[0].length);
    const asks = /[?？]$/u.test(rest) && !ASKS_FOR_CHANGE_KO.test(rest);
    const joined = VALUE_AFTER_KO.test(rest);
    if (joined ? asks || NOT_PLAIN_KO.test(rest) : !standsAlone(rest, place.tail.slice(found[0].length)))
      return undefined;
    return this.valued(place, place.start, found);
  }

  private valued(place: Place, start: number, found: RegExpExecArray): ScanHit | undefined {
    const parsed = parseValue(this.field, found[1], this.moment);
    return parsed.ok ? this.hit(place, start, place.end + found[0].length, parsed.value) : undefined;
  }

  private hit({ text }: Place, start: number, end: number, what: StateValue | { readonly retract: true }): ScanHit {
    const quote = text.slice(start, end).trimEnd();
    return { field: this.name, quote, start, end: start + quote.length, ...what };
  }
}

/** Whether a value is followed by nothing that makes it another: the end, a mark, a new word. */
const standsAlone = (rest: string, tail: string): boolean =>
  !NOT_VALUE_AFTER.test(tail) &&
  !/^[\p{Script=Hangul}]/u.test(tail) &&
  !(/[\p{Script=Hangul}]/u.test(rest) && NOT_PLAIN_KO.test(rest));

/** What stands in the text by its form, outside of what was read: a rule can't tell what it is about. */
function hintByForm(text: string, schema: StateSchema, hits: readonly ScanHit[], unclear: Set<string>): void {
  const sentences = hits.map((hit) => sentenceOf(text, hit));
  const amount = outside(text, amounts(), hits);
  const number = outside(text, numbers(), hits);
  const date = outside(text, dates(), hits);
  // "Actually, my budget is 20,000": the word of change is about what was read in its sentence.
  const change = outside(text, new RegExp(CHANGE_WORDS, 'giu'), sentences);
  for (const field of schema.fields) {
    if (mayBeMeant(field)) unclear.add(field.name);
  }

  function mayBeMeant(field: FieldDefinition): boolean {
    switch (field.type) {
      case 'money':
        return amount || (change && number);
      case 'number':
        return (change && number) || outside(text, counted(field), hits);
      case 'date':
        return date;
      case 'enum':
        return change || outside(text, mentions(enumWords(field)), hits);
      case 'text':
      case 'boolean':
        return change || KIND_WORDS[field.kind].test(text);
    }
  }
}

const counted = ({ units = [] }: FieldDefinition): RegExp => new RegExp(`\\d\\s?${anyOf(units)}`, 'giu');

const enumWords = ({ values = [] }: FieldDefinition): readonly string[] =>
  values.flatMap(({ value, labels }) => [value, ...Object.values(labels)]);

interface Span {
  readonly start: number;
  readonly end: number;
}

/** As far as a rule looks. */
function sentenceOf(text: string, { start, end }: Span): Span {
  const from = Math.max(0, start - REACH);
  const rest = text.slice(end, end + REACH).search(SENTENCE_END);
  return {
    start: from + lastEnd(text.slice(from, start), SENTENCE_END),
    end: rest < 0 ? Math.min(text.length, end + REACH) : end + rest,
  };
}

/** Spans are in order, and so are matches: one pass over both. */
function outside(text: string, pattern: RegExp, spans: readonly Span[]): boolean {
  let at = 0;
  for (const { index } of text.matchAll(pattern)) {
    while ((spans[at]?.end ?? Infinity) <= index) at++;
    if (index < (spans[at]?.start ?? Infinity)) return true;
  }
  return false;
}
