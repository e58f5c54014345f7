/** A figure with its label, as a table or a list shows it. */
export interface Figure {
  readonly label: string;
  /** As it stands there. */
  readonly amount: string;
}

/** A comma outside quotes. */
const CSV_COMMA = /,(?=(?:[^"]*"[^"]*")*[^"]*$)/;
const AMOUNT = /^\$?-?\d[\d,]*(?:\.\d+)?$/;

/** The figures in a text: a tool result (JSON rows, CSV, a table of any kind) or an earlier answer. */
export function figuresIn(text: string): readonly Figure[] {
  return fromJson(text) ?? text.split('\n').flatMap(fromLine);
}

function fromJson(text: string): readonly Figure[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    const inner = typeof parsed === 'object' && parsed !== null && 'rows' in parsed ? parsed.rows : parsed;
    return Array.isArray(inner) ? inner.flatMap(fromRow) : undefined;
  } catch {
    return undefined;
  }
}

/** The last number of a row counts, and its first text names it. */
function fromRow(row: unknown): readonly Figure[] {
  if (typeof row !== 'object' || row === null) return [];
  const cells = (Object.values(row) as unknown[]).map((cell) =>
    typeof cell === 'string' ? cell : typeof cell === 'number' ? String(cell) : '',
  );
  return fromCells(cells);
}

function fromLine(line: string): readonly Figure[] {
  const plain = line.replace(/^\s*(?:[-*]|\d+[.)])\s+/, '');
  const separator = ['|', '\t', ' — ', ': '].find((candidate) => plain.includes(candidate));
  const cells = separator === undefined ? plain.split(CSV_COMMA) : plain.split(separator);
  return fromCells(cells.map((cell) => cell.trim().replace(/^"(.*)"$/, '$1')));
}

function fromCells(cells: readonly string[]): readonly Figure[] {
  const label = cells.find((cell) => /\p{L}/u.test(cell));
  const amount = cells.findLast((cell) => AMOUNT.test(cell));
  return label === undefined || amount === undefined ? [] : [{ label, amount }];
}

export function totalOf(figures: readonly Figure[]): string {
  return figures.reduce((sum, { amount }) => sum + Number(amount.replace(/[$,]/g, '')), 0).toFixed(2);
}
