import { addDays, addMonths, day, type Day, dayOf, endOfMonth, type Moment, partsOf, weekdayOf } from './calendar';

/**
 * Reads a date, written out or relative to the moment, in English and Korean. Null for all that names no one day ("next week"), and for
 * 12/04/2026, which is two days in two countries.
 *
 * A day without a year is the next one from today on. Weeks begin on Monday: "this Friday" is this week's, "next Friday" and "다음 주 금요일"
 * next week's, "Friday" the next one from today on, "last Friday" the last one before today, "지난주 금요일" the week before's.
 */
export function parseDate(text: string, moment: Moment): Day | null {
  const plain = text.normalize('NFKC').trim().toLowerCase().replace(/\s+/g, ' ');
  if (plain.length > MAX_CHARACTERS) return null;
  if (INSTANT.test(plain)) return instant(plain, moment.zone);
  const today = dayOf(moment);
  for (const form of FORMS) {
    const found = form.pattern.exec(plain);
    if (found) return form.read(found, today);
  }
  return null;
}

const MAX_CHARACTERS = 80;

const INSTANT = /^\d{4}-\d\d-\d\dt\d\d:\d\d(:\d\d(\.\d{1,9})?)?(z|[+-]\d\d:?\d\d)$/;

function instant(text: string, zone: string): Day | null {
  const at = text.toUpperCase();
  return Number.isNaN(Date.parse(at)) ? null : dayOf({ at, zone });
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const MONTH =
  '(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)[.]?';
const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const WEEKDAY = '(mon|tues|wednes|thurs|fri|satur|sun)day';
const KOREAN_WEEKDAYS = '월화수목금토일';
const COUNT_WORDS = ['a', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const COUNT = '(\\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten)';
const DAYS_AWAY: Readonly<Record<string, number>> = {
  today: 0,
  tonight: 0,
  tomorrow: 1,
  yesterday: -1,
  'day after tomorrow': 2,
  'day before yesterday': -2,
  오늘: 0,
  내일: 1,
  모레: 2,
  내일모레: 2,
  글피: 3,
  어제: -1,
  그제: -2,
  그저께: -2,
};
const KOREAN_DAYS: Readonly<Record<string, number>> = {
  하루: 1,
  이틀: 2,
  사흘: 3,
  나흘: 4,
  닷새: 5,
  엿새: 6,
  이레: 7,
  열흘: 10,
  보름: 15,
  일주일: 7,
};

interface Form {
  /** Unanchored, for finding the form within a text; white space is one space or the like. */
  readonly source: string;
  readonly pattern: RegExp;
  readonly read: (found: RegExpExecArray, today: Day) => Day | null;
}

const form = (source: string, read: Form['read']): Form => ({ source, read, pattern: new RegExp(`^${source}$`, 'u') });

const FORMS: readonly Form[] = [
  form('(\\d{4})([-/.]) ?(\\d{1,2})\\2 ?(\\d{1,2})', ([, y, , m, d]) => day(Number(y), Number(m), Number(d))),
  form('(\\d{4})년 ?(\\d{1,2})월 ?(\\d{1,2})일', ([, y, m, d]) => day(Number(y), Number(m), Number(d))),
  form('(\\d{1,2})월 ?(\\d{1,2})일', ([, m, d], today) => nextSuchDay(Number(m), Number(d), today)),
  form(`${MONTH} (\\d{1,2})(?:st|nd|rd|th)?(?:,? (\\d{4}))?`, ([, m, d, y], today) => named(y, m, d, today)),
  form(`(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH}(?:,? (\\d{4}))?`, ([, d, m, y], today) => named(y, m, d, today)),
  form('(?:the )?(today|tonight|tomorrow|yesterday|day after tomorrow|day before yesterday)', daysAway),
  form('(오늘|내일 ?모레|내일|모레|글피|어제|그제|그저께)', daysAway),
  form(`in ${COUNT} (day|week|month)s?`, ([, n, unit], today) => moved(today, count(n), unit)),
  form(`${COUNT} (day|week|month)s? (from now|later|ago)`, ([, n, unit, way], today) =>
    moved(today, way === 'ago' ? -count(n) : count(n), unit),
  ),
  form('(\\d{1,4}) ?(일|주일?|달|개월) ?(뒤|후|전)', ([, n, unit, way], today) =>
    moved(today, (way === '전' ? -1 : 1) * Number(n), unit),
  ),
  form('(하루|이틀|사흘|나흘|닷새|엿새|이레|열흘|보름|일주일) ?(뒤|후|전)', ([, n = '', way], today) =>
    addDays(today, (way === '전' ? -1 : 1) * (KOREAN_DAYS[n] ?? 0)),
  ),
  form(`(?:(this|next|last|coming|this coming) )?${WEEKDAY}`, ([, which, name = ''], today) =>
    weekday(WEEKDAYS.indexOf(name.slice(0, 3)), which, today),
  ),
  form('(?:(이번|다음|지난|저번|오는) ?(주)? ?)?([월화수목금토일])요일', ([, which, week, name = ''], today) =>
    weekday(KOREAN_WEEKDAYS.indexOf(name), which && `${which}${week ?? ''}`, today),
  ),
  form('(?:the )?end of (?:(this|the|next) )?month', ([, which], today) => monthEnd(which === 'next' ? 1 : 0, today)),
  form('(?:(이번|다음) ?달 ?)?말일|(?:(이번|다음) ?달 ?)말|월말', ([, one, other], today) =>
    monthEnd((one ?? other) === '다음' ? 1 : 0, today),
  ),
];

/** Every form, for finding dates in a text that was folded to lower case. What it finds may still be no day of the calendar. */
export const DATE_SOURCE = `(?:${FORMS.map(({ source }) => source.replace(/\\2/g, '[-/.]').replace(/\((?!\?)/g, '(?:')).join('|')})`;

function daysAway([, name = '']: RegExpExecArray, today: Day): Day | null {
  return addDays(today, DAYS_AWAY[name] ?? DAYS_AWAY[name.replace(' ', '')] ?? 0);
}

const count = (said = ''): number => {
  const word = COUNT_WORDS.indexOf(said === 'an' ? 'a' : said);
  return word < 0 ? Number(said) : Math.max(word, 1);
};

function moved(today: Day, by: number, unit = ''): Day | null {
  if (unit === 'month' || unit === '달' || unit === '개월') return addMonths(today, by);
  return addDays(today, unit === 'day' || unit === '일' ? by : by * 7);
}

const monthEnd = (months: number, today: Day): Day | null => {
  const within = addMonths(today, months);
  return within && endOfMonth(within);
};

function weekday(wanted: number, which: string | undefined, today: Day): Day | null {
  const monday = -weekdayOf(today);
  const ahead = (wanted + monday + 7) % 7;
  switch (which) {
    case 'this':
    case '이번':
    case '이번주':
      return addDays(today, monday + wanted);
    case 'next':
    case '다음':
    case '다음주':
      return addDays(today, monday + 7 + wanted);
    case '지난주':
    case '저번주':
      return addDays(today, monday - 7 + wanted);
    case 'last':
    case '지난':
    case '저번':
      return addDays(today, ahead === 0 ? -7 : ahead - 7);
    default:
      return addDays(today, ahead);
  }
}

function named(year: string | undefined, month = '', date: string | undefined, today: Day): Day | null {
  const number = MONTHS.indexOf(month.slice(0, 3)) + 1;
  return year ? day(Number(year), number, Number(date)) : nextSuchDay(number, Number(date), today);
}

/** The 29th of February may be some years away. */
function nextSuchDay(month: number, date: number, today: Day): Day | null {
  const { year } = partsOf(today);
  for (let ahead = 0; ahead <= 8; ahead++) {
    const found = day(year + ahead, month, date);
    if (found && found >= today) return found;
  }
  return null;
}
