/** A day of the calendar, YYYY-MM-DD. What is computed with days knows no clock and no zone. */
export type Day = string;

/** When something was said: what relative dates are read by. */
export interface Moment {
  /** UTC, ISO 8601. */
  readonly at: string;
  /** IANA. */
  readonly zone: string;
}

/** Whether it is a zone of the IANA database, by its name. */
export function isZone(text: string): boolean {
  // The form first: newer versions of Node take offsets such as +09:00 for zones.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** The day that a moment falls on in its zone. Throws a RangeError for a zone that is none, or an instant that is none. */
export function dayOf({ at, zone }: Moment): Day {
  const parts = new Intl.DateTimeFormat('en-US', {
    calendar: 'iso8601',
    numberingSystem: 'latn',
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(new Date(at));
  const part = (type: string) => parts.find((found) => found.type === type)?.value ?? '';
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
}

/** Null where the calendar has no such day. */
export function day(year: number, month: number, date: number): Day | null {
  if (year < 1 || year > 9999 || month < 1 || month > 12 || date < 1 || date > daysIn(year, month)) return null;
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(date, 2)}`;
}

export function isDay(text: string): boolean {
  const [year = 0, month = 0, date = 0] = text.split('-').map(Number);
  return /^\d{4}-\d\d-\d\d$/.test(text) && day(year, month, date) === text;
}

/** Null beyond the years 1 to 9999. */
export function addDays(from: Day, days: number): Day | null {
  const moved = new Date(Date.parse(from) + days * 86_400_000);
  if (Number.isNaN(moved.getTime())) return null;
  return day(moved.getUTCFullYear(), moved.getUTCMonth() + 1, moved.getUTCDate());
}

/** A month later than the 31st of January is the last of February. */
export function addMonths(from: Day, months: number): Day | null {
  const { year, month, date } = partsOf(from);
  const index = year * 12 + (month - 1) + months;
  const [toYear, toMonth] = [Math.floor(index / 12), (index % 12) + 1];
  return day(toYear, toMonth, Math.min(date, daysIn(toYear, toMonth)));
}

export function endOfMonth(from: Day): Day {
  const { year, month } = partsOf(from);
  return `${from.slice(0, 8)}${daysIn(year, month)}`;
}

/** Monday is 0: weeks begin with it. */
export const weekdayOf = (of: Day): number => (new Date(Date.parse(of)).getUTCDay() + 6) % 7;

export function partsOf(of: Day): { readonly year: number; readonly month: number; readonly date: number } {
  const [year = 0, month = 0, date = 0] = of.split('-').map(Number);
  return { year, month, date };
}

const pad = (number: number, digits: number): string => String(number).padStart(digits, '0');

const LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const daysIn = (year: number, month: number): number => (month === 2 && isLeap(year) ? 29 : (LENGTHS[month - 1] ?? 0));
