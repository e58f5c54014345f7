import { type Decimal, parseDecimal } from './numbers';

export interface Money {
  readonly amount: Decimal;
  /** ISO 4217; undefined where none was said. */
  readonly currency: string | undefined;
}

/** A dollar sign alone is taken for USD and a yen sign for JPY; who means another says its code. */
const SYMBOLS: Readonly<Record<string, string>> = { $: 'USD', '€': 'EUR', '£': 'GBP', '¥': 'JPY', '₩': 'KRW' };

const WORDS: Readonly<Record<string, string>> = {
  원: 'KRW',
  won: 'KRW',
  달러: 'USD',
  dollar: 'USD',
  dollars: 'USD',
  유로: 'EUR',
  euro: 'EUR',
  euros: 'EUR',
  파운드: 'GBP',
  pound: 'GBP',
  pounds: 'GBP',
  엔: 'JPY',
  yen: 'JPY',
  위안: 'CNY',
  yuan: 'CNY',
  krw: 'KRW',
  usd: 'USD',
  eur: 'EUR',
  gbp: 'GBP',
  jpy: 'JPY',
  cny: 'CNY',
};

const WORDS_LONGEST_FIRST = Object.keys(WORDS).sort((a, b) => b.length - a.length);

const CODES = new Set(Intl.supportedValuesOf('currency'));

export const isCurrency = (code: string): boolean => CODES.has(code);

/** Reads "20,000", "$20k", "20,000원", "2만원", "만원", "USD 20,000", "20 dollars". Codes stand in capitals, but for the commonest. */
export function parseMoney(text: string): Money | null {
  const { rest, currency } = withoutCurrency(text.normalize('NFKC').trim());
  if (rest === null || AMBIGUOUS.test(rest)) return null;
  const amount = parseDecimal(rest);
  return amount === null ? null : { amount, currency };
}

/** "20.000" is twenty in one country and twenty thousand in another. */
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2}\.\d{3}$/;

const BEFORE = /^([+-]?)(?:([$€£¥₩])|([A-Z]{3}|krw|usd|eur|gbp|jpy|cny)(?=[ \d]))\s?/u;
const AFTER = /\s?(?:([$€£¥₩])|(?<=[\d ])([A-Z]{3}))$/u;

function withoutCurrency(text: string): { readonly rest: string; readonly currency: string | undefined } {
  const before = BEFORE.exec(text);
  const first = before && currencyOf(before);
  if (before && first) return { rest: before[1] + text.slice(before[0].length), currency: first };
  const word = WORDS_LONGEST_FIRST.find((known) => text.slice(-known.length).toLowerCase() === known);
  if (word) return { rest: text.slice(0, -word.length).trim(), currency: WORDS[word] };
  const after = AFTER.exec(text);
  const last = after && currencyOf(['', ...after]);
  return last ? { rest: text.slice(0, after.index), currency: last } : { rest: text, currency: undefined };
}

const currencyOf = ([, , symbol, code = '']: readonly (string | undefined)[]): string | undefined =>
  symbol ? SYMBOLS[symbol] : isCurrency(code) ? code : WORDS[code];
