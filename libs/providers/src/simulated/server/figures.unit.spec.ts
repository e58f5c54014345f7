import { figuresIn } from './figures';
import { topicOf } from './topics';

describe('figures in a text', () => {
  it.each([
    ['rows as objects', '[{"name":"Aster, Inc.","sales":"1200.50"},{"name":"Birch","sales":900}]'],
    ['rows as lists', '{"columns":["name","sales"],"rows":[["Aster, Inc.","1200.50"],["Birch",900]],"rowCount":2}'],
    ['CSV', 'name,sales\n"Aster, Inc.",1200.50\nBirch,900\n(2 rows)'],
    ['a table', '| name | sales |\n| --- | --- |\n| Aster, Inc. | 1200.50 |\n| Birch | 900 |'],
    ['psql', ' name  | sales\n-------+-------\n Aster, Inc. | 1200.50\n Birch | 900\n(2 rows)'],
    ['a list', 'The largest:\n1. Aster, Inc. — 1200.50\n2. Birch — 900'],
  ])('%s', (_name, text) => {
    expect(figuresIn(text)).toEqual([
      { label: 'Aster, Inc.', amount: '1200.50' },
      { label: 'Birch', amount: '900' },
    ]);
  });

  it.each(['', 'Nothing here.', '{"broken', 'relation "x" does not exist'])('%j holds none', (text) => {
    expect(figuresIn(text)).toEqual([]);
  });
});

describe('the question', () => {
  const question = (text: string, today = '2026-06-15'): string => topicOf(text)?.sql(text, today) ?? '';

  it.each([
    ["Who were last month's ten largest customers by sales?", '2026-05-01', '2026-06-01', 'limit 10'],
    ['Top 3 customers this month?', '2026-06-01', '2026-07-01', 'limit 3'],
    ['Who were the five biggest clients in November?', '2025-11-01', '2025-12-01', 'limit 5'],
  ])('%s', (text, from, to, limit) => {
    expect(question(text)).toContain(`date '${from}' and s.sold_on < date '${to}'`);
    expect(question(text)).toContain(limit);
  });

  it('last month of January is December of the year before', () => {
    expect(question('Top customers by sales last month?', '2026-01-10')).toContain("date '2025-12-01'");
  });
});
