/** Decimals as text, exact at any size: no plus sign, no leading zeros, no zeros at the end of a fraction. */
export type Decimal = string;

/** A decimal as JSON holds it without loss, else as text. */
export function toScalar(decimal: Decimal): number | string {
  const number = Number(decimal);
  const exact = Math.abs(number) <= Number.MAX_SAFE_INTEGER && plain(number) === decimal;
  return exact ? number : decimal;
}

/** The decimal that a stored number is; null for text that is none. */
export function toDecimal(scalar: number | string): Decimal | null {
  return parseDecimal(typeof scalar === 'number' ? plain(scalar) : scalar);
}

/** Reads "20,000", "20k", "1.5 million", "2만 5천", "이만". Null for all else, grouping that is wrong and lone words of scale but Korean's own. */
export function parseDecimal(text: string): Decimal | null {
  const plainText = text.normalize('NFKC').trim().toLowerCase();
  if (plainText.length > MAX_CHARACTERS) return null;
  const western = WESTERN.exec(plainText);
  if (western) {
    const [, sign = '', digits = '', fraction = '', scale = ''] = western;
    return printed((sign === '-' ? -1n : 1n) * fixed(digits, fraction) * (SCALES[scale] ?? 1n));
  }
  const korean = parseKorean(plainText.replace(/\s+/g, ''));
  return korean === null ? null : printed(korean);
}

/** With a comma at every third digit, in every language that this lib speaks. */
export function grouped(decimal: Decimal): string {
  const [whole = '', fraction] = decimal.split('.');
  const withCommas = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? withCommas : `${withCommas}.${fraction}`;
}

const MAX_CHARACTERS = 80;
const FRACTION_DIGITS = 20;
const ONE = 10n ** BigInt(FRACTION_DIGITS);
const SCALES: Readonly<Record<string, bigint>> = {
  k: 1_000n,
  thousand: 1_000n,
  m: 1_000_000n,
  million: 1_000_000n,
  bn: 1_000_000_000n,
  billion: 1_000_000_000n,
};
const WESTERN = /^([+-]?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{1,20}))? ?(k|thousand|m|million|bn|billion)?$/;

const KOREAN_TOKEN = /\d{1,3}(?:,\d{3})+(?:\.\d{1,8})?|\d+(?:\.\d{1,8})?|[일이삼사오육칠팔구]|[십백천]|[만억조]/y;
const KOREAN_DIGITS = '영일이삼사오육칠팔구';
const SMALL_UNITS: Readonly<Record<string, bigint>> = { 십: 10n, 백: 100n, 천: 1_000n };
const BIG_UNITS: Readonly<Record<string, bigint>> = { 만: 10n ** 4n, 억: 10n ** 8n, 조: 10n ** 12n };

/** Korean counts in groups of four digits: small units within a group, 만, 억 and 조 between groups, each smaller than the one before. */
function parseKorean(text: string): bigint | null {
  let total = 0n;
  let group = 0n;
  let current: bigint | null = null;
  let smallest = 10n ** 16n;
  let smallestInGroup = 10n ** 4n;
  for (let at = 0; at < text.length;) {
    KOREAN_TOKEN.lastIndex = at;
    const token = KOREAN_TOKEN.exec(text)?.[0];
    if (token === undefined) return null;
    at += token.length;
    const small = SMALL_UNITS[token];
    const big = BIG_UNITS[token];
    if (small !== undefined) {
      if (small >= smallestInGroup) return null;
      group += (current ?? ONE) * small;
      smallestInGroup = small;
      current = null;
    } else if (big !== undefined) {
      if (big >= smallest) return null;
      group += current ?? 0n;
      total += (group || ONE) * big;
      smallest = big;
      smallestInGroup = 10n ** 4n;
      group = 0n;
      current = null;
    } else {
      if (current !== null) return null;
      current = koreanDigits(token);
    }
  }
  return text === '' ? null : total + group + (current ?? 0n);
}

function koreanDigits(token: string): bigint {
  const digit = KOREAN_DIGITS.indexOf(token);
  if (digit > 0) return BigInt(digit) * ONE;
  const [digits = '', fraction = ''] = token.split('.');
  return fixed(digits, fraction);
}

const fixed = (digits: string, fraction: string): bigint =>
  BigInt(digits.replaceAll(',', '')) * ONE + BigInt(fraction.padEnd(FRACTION_DIGITS, '0'));

function printed(value: bigint): Decimal {
  const size = value < 0n ? -value : value;
  const fraction = (size % ONE).toString().padStart(FRACTION_DIGITS, '0').replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${size / ONE}${fraction ? `.${fraction}` : ''}`;
}

/** JavaScript prints numbers below 1e-6 and from 1e21 with an exponent: those are kept from JSON as text. */
const plain = (number: number): string => (Object.is(number, -0) ? '0' : String(number));
