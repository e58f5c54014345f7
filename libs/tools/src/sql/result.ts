import type { SqlLimits } from './limits';

export interface Rows {
  readonly columns: readonly string[];
  /** Postgres' own text of each value. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** A result as the model reads it: CSV with a header (null is empty, an empty text is `""`), then a line that says how much this is. */
export function renderRows({ columns, rows }: Rows, limits: Pick<SqlLimits, 'rows' | 'resultBytes'>): string {
  const header = columns.map(cell).join(',');
  const lines = [header];
  let bytes = Buffer.byteLength(header) + 1;
  let shown = 0;
  for (const row of rows.slice(0, limits.rows)) {
    const line = row.map(cell).join(',');
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > limits.resultBytes) return [...lines, cut(shown, `${limits.resultBytes} bytes`)].join('\n');
    lines.push(line);
    shown += 1;
  }
  return [...lines, rows.length > shown ? cut(shown, `${limits.rows} rows`) : count(shown)].join('\n');
}

const cell = (value: string | null): string => {
  if (value === null) return '';
  return value === '' || /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
};

const count = (rows: number): string => (rows === 1 ? '(1 row)' : `(${rows} rows)`);

const cut = (shown: number, limit: string): string =>
  `(cut at ${limit}: the first ${count(shown).slice(1, -1)}, and there are more. Aggregate, filter, or select fewer columns.)`;
