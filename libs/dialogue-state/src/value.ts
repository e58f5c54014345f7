import { isDay, type Moment } from './calendar';
import { parseDate } from './dates';
import { stateLimits } from './limits';
import { parseMoney } from './money';
import { grouped, parseDecimal, toDecimal, toScalar } from './numbers';
import { type FieldDefinition, labelOf, languageOf } from './schema';
import type { StateValue } from './statement';
import { fold, oneLine } from './text';

export type ValueProblem =
  | 'empty'
  | 'too_long'
  | 'not_text'
  | 'not_a_number'
  | 'not_an_amount'
  | 'not_a_date'
  | 'not_a_choice'
  | 'not_yes_or_no'
  | 'unsafe_number';

export type ParsedValue =
  | { readonly ok: true; readonly value: StateValue }
  | { readonly ok: false; readonly code: ValueProblem; readonly detail: string };

/** A value as a person, a model or a client gives it, read as the field's type; relative dates by the moment at which it was said. */
export function parseValue(field: FieldDefinition, raw: unknown, moment: Moment): ParsedValue {
  if (typeof raw === 'number' && !isExact(raw)) {
    return refuse('unsafe_number', `${field.name}: JSON can't hold ${raw} exactly; give it as text`);
  }
  if (typeof raw !== 'string' && typeof raw !== 'number' && typeof raw !== 'boolean') {
    return refuse('not_text', `${field.name} takes a text, a number or a boolean`);
  }
  const text = String(raw);
  if (fold(text) === '') return refuse('empty', `${field.name} can't be empty; retract it instead`);
  if (text.length > stateLimits.maxValueCharacters) {
    const { maxValueCharacters } = stateLimits;
    return refuse('too_long', `${field.name} has ${text.length} characters, and may have ${maxValueCharacters}`);
  }
  return READERS[field.type](text, field, moment);
}

/**
 * Whether two values of a field are the same: then the later one affirms the earlier. An amount without a currency affirms one with it, and
 * the other way round; 10,000 KRW and 10,000 USD are two values.
 */
export function sameValue(field: FieldDefinition, a: StateValue, b: StateValue): boolean {
  if (a.currency !== undefined && b.currency !== undefined && a.currency !== b.currency) return false;
  return comparable(field, a) === comparable(field, b);
}

/** A value as it is shown: one line, in the words of the locale. */
export function showValue(field: FieldDefinition, { value, currency }: StateValue, locale: string): string {
  switch (field.type) {
    case 'boolean': {
      const words = languageOf(locale) === 'ko' ? ['예', '아니요'] : ['yes', 'no'];
      return typeof value === 'boolean' ? (words[value ? 0 : 1] ?? '') : oneLine(String(value));
    }
    case 'enum': {
      const choice = field.values?.find((known) => known.value === value);
      return oneLine(choice ? labelOf(choice.labels, locale, choice.value) : String(value));
    }
    case 'number':
    case 'money': {
      const decimal = typeof value === 'boolean' ? null : toDecimal(value);
      const shown = decimal === null ? oneLine(String(value)) : grouped(decimal);
      const home = field.currency ?? (languageOf(locale) === 'ko' ? 'KRW' : undefined);
      return currency === undefined || currency === home ? shown : `${currency} ${shown}`;
    }
    case 'date':
    case 'text':
      return oneLine(String(value));
  }
}

type Reader = (text: string, field: FieldDefinition, moment: Moment) => ParsedValue;

const READERS: Readonly<Record<FieldDefinition['type'], Reader>> = {
  text: (text) => accept({ value: text.trim() }),
  number: (text, { name }) => {
    const decimal = parseDecimal(text);
    return decimal === null
      ? refuse('not_a_number', `${name} takes a number, such as 1,500 or 1.5`)
      : accept({ value: toScalar(decimal) });
  },
  money: (text, field) => {
    const money = parseMoney(text);
    if (!money) return refuse('not_an_amount', `${field.name} takes an amount, such as 20,000, $20 or 2만원`);
    const currency = money.currency ?? field.currency;
    return accept({ value: toScalar(money.amount), ...(currency === undefined ? {} : { currency }) });
  },
  date: (text, { name }, moment) => {
    const found = parseDate(text, moment);
    return found && isDay(found)
      ? accept({ value: found })
      : refuse('not_a_date', `${name} takes one day, such as 2026-12-04, "next Friday" or "내일"`);
  },
  enum: (text, { name, values = [] }) => {
    const said = fold(text);
    const choice =
      values.find(({ value }) => fold(value) === said) ??
      values.find(({ labels }) => Object.values(labels).some((label) => fold(label) === said));
    return choice
      ? accept({ value: choice.value })
      : refuse('not_a_choice', `${name} is one of: ${values.map(({ value }) => value).join(', ')}`);
  },
  boolean: (text, { name }) => {
    const said = fold(text);
    if (YES.includes(said)) return accept({ value: true });
    return NO.includes(said) ? accept({ value: false }) : refuse('not_yes_or_no', `${name} takes yes or no`);
  },
};

const YES = ['true', 'yes', 'y', '예', '네', '응', '맞아요'];
const NO = ['false', 'no', 'n', '아니요', '아니오', '아뇨', '아니'];

/** A whole number within the safe ones, or a fraction that prints as it was given. */
const isExact = (raw: number): boolean =>
  Number.isFinite(raw) && Math.abs(raw) <= Number.MAX_SAFE_INTEGER && toDecimal(raw) !== null;

/** Also of a value that an older schema stored under another type: it is then compared as text. */
export function comparable({ type }: FieldDefinition, { value }: StateValue): string {
  const decimal = (type === 'number' || type === 'money') && typeof value !== 'boolean' ? toDecimal(value) : null;
  return decimal ?? fold(String(value));
}

const accept = (value: StateValue): ParsedValue => ({ ok: true, value });
const refuse = (code: ValueProblem, detail: string): ParsedValue => ({ ok: false, code, detail });
