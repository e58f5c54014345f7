import { ForeignFault, type NoteCounts } from './tree';

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const recordOf = (value: unknown): JsonRecord => (isRecord(value) ? value : {});

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** An id; null where there is none. Some programs number their messages. */
export function idOf(value: unknown): string | null {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : null;
}

/** What is of no known kind, as the file has it. */
export const jsonOf = (value: unknown): string => JSON.stringify(value) ?? '';

/** Texts one under another, without those that are empty. */
export const lines = (...texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n');

/** Before it there was no such program; behind it, a clock was wrong. */
const FIRST = Date.UTC(2000, 0);
const LAST = Date.UTC(2100, 0);
/** Seconds beyond this are of the year 5138: the file counts in milliseconds. */
const MILLISECONDS_FROM = 1e11;

/** An instant, of seconds (or milliseconds) since 1970 or of ISO 8601. Null where there is none or it cannot be. */
export function instantOf(value: unknown, notes: NoteCounts): string | null {
  if (value === null || value === undefined || value === 0 || value === '') return null;
  const at =
    typeof value === 'number'
      ? value * (Math.abs(value) >= MILLISECONDS_FROM ? 1 : 1000)
      : typeof value === 'string'
        ? Date.parse(value)
        : NaN;
  if (at >= FIRST && at < LAST) return new Date(at).toISOString();
  notes.add('absurd_time');
  return null;
}

/** A count of tokens. */
export const tokensOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

export function shapeFault(detail: string): ForeignFault {
  return new ForeignFault('shape', detail);
}
