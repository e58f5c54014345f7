import { type Figure, totalOf } from './figures';

/** A kind of question that the model can answer from figures. */
export interface Topic {
  readonly name: string;
  /** Figures that an answer needs; fewer in a text are none. */
  readonly least: number;
  matches(question: string): boolean;
  sql(question: string, today: string): string;
  answer(figures: readonly Figure[], question: string, today: string): string;
}

const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const MONTHS = 'January February March April May June July August September October November December'.split(' ');

export function includesOverseas(question: string): boolean {
  return /overseas|subsidiar|worldwide|global|abroad/i.test(question);
}

function howMany(question: string): number {
  const word = new RegExp(`\\b(\\d{1,2}|${NUMBERS.slice(1).join('|')})\\b(?! (?:days|months|years))`, 'i').exec(
    question,
  )?.[1];
  if (word === undefined) return 10;
  return /^\d/.test(word) ? Math.max(1, Number(word)) : NUMBERS.indexOf(word.toLowerCase());
}

interface Month {
  readonly from: string;
  readonly to: string;
  readonly name: string;
}

/** The month that the question names; by default the one before `today`. */
function monthOf(question: string, today: string): Month {
  const [year = 2026, month = 6] = today.split('-').map(Number);
  const named = MONTHS.findIndex((name) => new RegExp(`\\bin ${name}\\b`, 'i').test(question));
  const offset = named >= 0 ? named - (named >= month ? 12 : 0) : month - (/\bthis month\b/i.test(question) ? 1 : 2);
  const first = (months: number): Date => new Date(Date.UTC(year, months, 1));
  const at = first(offset);
  return {
    from: at.toISOString().slice(0, 10),
    to: first(offset + 1)
      .toISOString()
      .slice(0, 10),
    name: `${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`,
  };
}

function within(month: Month): string {
  return `s.sold_on >= date '${month.from}' and s.sold_on < date '${month.to}'`;
}

const topCustomers: Topic = {
  name: 'top customers',
  least: 2,
  matches: (question) =>
    /\b(largest|biggest|top|best|leading)\b[^.?!]*\b(customers?|clients?|accounts?)\b/i.test(question) ||
    /\b(customers?|clients?)\b[^.?!]*\bby (sales|revenue|turnover)\b/i.test(question),
  sql: (question, today) => {
    const month = within(monthOf(question, today));
    if (includesOverseas(question)) {
      return (
        'select p.name, sum(s.amount) as sales from sales s join customers c on c.id = s.customer_id ' +
        `join customers p on p.id = coalesce(c.parent_id, c.id) where p.region = 'domestic' and ${month} ` +
        `group by p.id, p.name order by sales desc, p.name limit ${howMany(question)}`
      );
    }
    return (
      'select c.name, sum(s.amount) as sales from sales s join customers c on c.id = s.customer_id ' +
      `where s.channel = 'domestic' and ${month} ` +
      `group by c.id, c.name order by sales desc, c.name limit ${howMany(question)}`
    );
  },
  answer: (figures, question, today) => {
    const scope = includesOverseas(question) ? ', overseas subsidiaries included' : '';
    const lines = figures.map(({ label, amount }, index) => `${index + 1}. ${label} — ${amount}`);
    return `The largest customers by sales in ${monthOf(question, today).name}${scope}:\n${lines.join('\n')}`;
  },
};

const totalSales: Topic = {
  name: 'total sales',
  least: 1,
  matches: (question) => /\b(total|sum|altogether|overall|how much)\b/i.test(question),
  sql: (question, today) => {
    const channel = includesOverseas(question) ? '' : "s.channel = 'domestic' and ";
    return `select 'total' as label, sum(s.amount) as sales from sales s where ${channel}${within(monthOf(question, today))}`;
  },
  answer: (figures) => `The total is ${totalOf(figures)}.`,
};

const customerCount: Topic = {
  name: 'customer count',
  least: 1,
  matches: (question) => /\bhow many (customers|clients)\b/i.test(question),
  sql: () => "select 'customers' as label, count(*) as customers from customers",
  answer: (figures) => `There are ${figures[0]?.amount ?? 'no'} customers.`,
};

const TOPICS: readonly Topic[] = [topCustomers, customerCount, totalSales];

export function topicOf(question: string): Topic | undefined {
  return TOPICS.find((topic) => topic.matches(question));
}
