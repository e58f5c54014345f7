export type JsonRecord = Record<string, unknown>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function recordsOf(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** A JSON text's strings and numbers; strings first, so that a digit inside one is not taken for a number. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MAY_BE_UNSAFE = /\d{16}|\d[eE][+-]?\d/;

function isSafe(literal: string): boolean {
  const value = Number(literal);
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

/**
 * Parses what a provider sent so that an event can hold it: a number outside the safe integers becomes a string with its literal, digit
 * for digit. Tool arguments are strings on the wire and not touched.
 */
export function parseStorable(text: string): unknown {
  if (!MAY_BE_UNSAFE.test(text)) return JSON.parse(text);
  return JSON.parse(text.replace(TOKENS, (token) => (token.startsWith('"') || isSafe(token) ? token : `"${token}"`)));
}

/** True for the text of a JSON object that UTF-8 can carry: what a provider takes as a call's input, byte for byte. */
export function isJsonObject(text: string): boolean {
  if (/\p{Surrogate}/u.test(text)) return false;
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Keys in order at every depth, so that equal values give equal bytes. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
