import { renderRows } from './result';

const limits = { rows: 3, resultBytes: 1_000 };

describe('the text of a result', () => {
  it('is CSV with a header and the number of rows', () => {
    const rows = [
      ['1', 'Kim, "K"'],
      [null, ''],
    ];
    expect(renderRows({ columns: ['id', 'name'], rows }, limits)).toBe('id,name\n1,"Kim, ""K"""\n,""\n(2 rows)');
    expect(renderRows({ columns: ['id'], rows: [['1']] }, limits)).toBe('id\n1\n(1 row)');
    expect(renderRows({ columns: ['id'], rows: [] }, limits)).toBe('id\n(0 rows)');
  });

  it('says where it is cut by rows', () => {
    const rows = [['1'], ['2'], ['3'], ['4']];
    expect(renderRows({ columns: ['id'], rows }, limits)).toContain(
      '\n3\n(cut at 3 rows: the first 3 rows, and there are more.',
    );
    expect(renderRows({ columns: ['id'], rows: rows.slice(0, 3) }, limits)).toBe('id\n1\n2\n3\n(3 rows)');
  });

  it('says where it is cut by bytes, counted in UTF-8, between two rows', () => {
    const rows = [['가'.repeat(100)], ['나'.repeat(300)]];
    const text = renderRows({ columns: ['text'], rows }, limits);
    expect(text).toBe(
      `text\n${'가'.repeat(100)}\n(cut at 1000 bytes: the first 1 row, and there are more. Aggregate, filter, or select fewer columns.)`,
    );
    expect(
      renderRows({ columns: ['text'], rows: [rows[1] as string[], ['x']] }, { rows: 3, resultBytes: 500 }),
    ).toContain('0 rows');
  });
});
