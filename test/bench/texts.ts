import { sentences } from './sentences';

/** What one turn brings in. All of it is new text. */
export interface TurnTexts {
  readonly question: string;
  /** The raw arguments of its tool call. */
  readonly arguments: string;
  readonly result: string;
  readonly answer: string;
}

const FIRMS = [
  'Nordlicht',
  'Halvorsen',
  'Castellan',
  'Ostrava',
  'Bluewater',
  'Ferrante',
  'Kestrel',
  'Lindqvist',
  'Marchetti',
  'Okonkwo',
];
const TRADES = [
  'Machinery',
  'Logistics',
  'Textiles',
  'Foods',
  'Instruments',
  'Packaging',
  'Chemicals',
  'Joinery',
  'Optics',
  'Castings',
];
const FORMS = ['GmbH', 'Ltd', 'SpA', 'AB', 'Inc.', 's.r.o.', 'BV'];
const CITIES = [
  'Bremen',
  'Gothenburg',
  'Turin',
  'Brno',
  'Leeds',
  'Utrecht',
  'Lyon',
  'Gdańsk',
  'Córdoba',
  'Tampere',
  'Graz',
  'Ghent',
];
const STATUSES = ['paid', 'open', 'overdue', 'disputed', 'credited'];

/** Random numbers from a seed, the same in every run (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = (seed * 0x9e3779b9) >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** The texts of a turn: prose as people and models write it, and a table as a database gives it. Other seeds, other texts. */
export function turnTexts(seed: number, resultBytes: number): TurnTexts {
  const random = numbers(seed + 1);
  const one = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const prose = (count: number): string => {
    const left = [...sentences];
    return Array.from({ length: count }, () => left.splice(random(left.length), 1)[0] ?? '').join(' ');
  };
  const firm = (): string => `${one(FIRMS)} ${one(TRADES)} ${one(FORMS)}`;
  const day = (): string =>
    `2026-${String(1 + random(12)).padStart(2, '0')}-${String(1 + random(28)).padStart(2, '0')}`;
  const answer = `${prose(5)}\n\n- ${firm()}: ${random(900_000) / 100}\n- ${firm()}: ${random(900_000) / 100}\n\n${prose(4)}`;
  const raw = JSON.stringify({ customer: firm(), from: day(), to: day(), limit: 20 + random(80) });
  return {
    question: `${prose(3)} [[sim: call lookup ${raw}]] [[sim: say ${answer}]]`,
    arguments: raw,
    result: table(),
    answer,
  };

  function table(): string {
    const rows: string[] = [];
    for (let bytes = 2; bytes < resultBytes;) {
      const net = random(4_000_000) / 100;
      const row = JSON.stringify({
        ...{ invoice: `INV-2026-${String(random(1_000_000)).padStart(6, '0')}`, customer: firm(), city: one(CITIES) },
        ...{ sold_on: day(), items: 1 + random(40), net, vat: Math.round(net * 19) / 100, status: one(STATUSES) },
        note: random(3) === 0 ? one(sentences) : null,
      });
      rows.push(row);
      bytes += Buffer.byteLength(row) + 1;
    }
    return `[${rows.join(',')}]`;
  }
}

/** UTF-8 bytes of all that is new in a turn. */
export const newBytes = (texts: TurnTexts): number =>
  [texts.question, texts.arguments, texts.result, texts.answer].reduce(
    (bytes, text) => bytes + Buffer.byteLength(text),
    0,
  );
