/** One line of the bench: a ratio of two things measured in the same run, so that it says the same on any machine. */
export interface Row {
  readonly what: string;
  readonly ratio: number;
  /** The ratio is to be at least, or at most, this. Left out where none was set. */
  readonly aim?: { readonly least: number } | { readonly most: number };
  /** What the two things were, in absolute numbers of this machine. */
  readonly detail: string;
}

export interface Section {
  readonly title: string;
  /** How it was measured, in a sentence or two. */
  readonly how: string;
  readonly rows: readonly Row[];
}

/** Undefined where no aim was set. */
export function isMet({ ratio, aim }: Row): boolean | undefined {
  if (aim === undefined) return undefined;
  return 'least' in aim ? ratio >= aim.least : ratio <= aim.most;
}

const aimText = ({ aim }: Row): string =>
  aim === undefined ? '' : 'least' in aim ? `at least ${aim.least}` : `at most ${aim.most}`;

const metText = (row: Row): string => {
  const met = isMet(row);
  return met === undefined ? '' : met ? 'met' : 'NOT MET';
};

export function print({ title, how, rows }: Section): string {
  const width = Math.max(...rows.map(({ what }) => what.length));
  const lines = rows.map((row) => {
    const cells = [
      row.what.padEnd(width),
      row.ratio.toFixed(2).padStart(7),
      aimText(row).padEnd(13),
      metText(row).padEnd(7),
    ];
    return `  ${cells.join('  ')}  ${row.detail}`;
  });
  return [title, `  ${how}`, ...lines, ''].join('\n');
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  if (upper === undefined || lower === undefined) throw new Error('There is no median of nothing.');
  return (upper + lower) / 2;
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
