import { setTimeout as delay } from 'node:timers/promises';
import { sqlTestDatabase, type SqlTestDatabase } from '../../testing';
import { createSqlTool } from './sql-tool';

let base: SqlTestDatabase;
const run: SqlTestDatabase['run'] = (...args) => base.run(...args);
beforeAll(async () => void (base = await sqlTestDatabase()), 60_000);
afterAll(() => base.close());

describe('a useful query', () => {
  it.each([
    ["select name from customers where name ilike 'haneul%' order by id limit 1", 'name\nHaneul Semicon\n(1 row)'],
    ['select count(*), min(sold_on), max(sold_on) from sales', 'count,min,max\n2728,2025-01-03,2026-06-15\n(1 row)'],
    [
      'select c.region, count(distinct c.id) as n from customers c left join sales s on s.customer_id = c.id group by 1 order by 1',
      'region,n\ndomestic,40\noverseas,22\n(2 rows)',
    ],
    [
      "select date_trunc('month', sold_on)::date as month, to_char(sum(amount), 'FM999,999,999') as total from sales where sold_on < '2025-02-01' group by 1",
      expect.stringMatching(/^month,total\n2025-01-01,"\d,\d{3},\d{3}"\n\(1 row\)$/),
    ],
    [
      'select rank() over (order by sum(amount) desc) as place, customer_id from sales group by customer_id order by 1 limit 1',
      'place,customer_id\n1,1\n(1 row)',
    ],
    [
      "select string_agg(name, '; ' order by name) from customers where parent_id = 11",
      'string_agg\nHaneul Semicon Taiwan; Haneul Semicon USA\n(1 row)',
    ],
    [
      "select coalesce(null, 'x') as a, '1.5'::numeric + 1 as b, '2026-06-15'::date - interval '1 month' as c",
      'a,b,c\nx,2.5,2026-05-15 00:00:00\n(1 row)',
    ],
    [
      "select extract(month from date '2026-06-15') as m, (timestamptz '2026-06-15 00:00+00' at time zone 'Asia/Seoul')::text as t",
      'm,t\n6,2026-06-15 09:00:00\n(1 row)',
    ],
    [
      'with recursive tree(id, level) as (select id, 0 from customers where id = 11 union all select c.id, level + 1 from customers c join tree t on c.parent_id = t.id) select level, count(*) from tree group by 1 order by 1',
      'level,count\n0,1\n1,2\n(2 rows)',
    ],
    [
      'select array_agg(n order by n desc) filter (where n > 1), bool_or(n = 2) from generate_series(1, 3) as n',
      'array_agg,bool_or\n"{3,2}",t\n(1 row)',
    ],
    [
      'select round(avg(amount), 2) > 0 as a, percentile_cont(0.5) within group (order by amount) > 0 as b, greatest(1, 2) as c from sales',
      'a,b,c\nt,t,2\n(1 row)',
    ],
    [
      "select trim(both ' ' from '  a ') as a, substring('abc' from 2) as b, position('b' in 'abc') as c, overlay('abc' placing 'x' from 2) as d, 'a' similar to 'a|b' as e, upper(left('abc', 1)) || lower('B') as f",
      'a,b,c,d,e,f\na,bc,2,axc,t,Ab\n(1 row)',
    ],
    [
      "select (date '2026-01-01', interval '2 days') overlaps (date '2026-01-02', date '2026-01-03') as o, age(date '2026-06-15', date '2025-06-15') as a, date_part('year', date '2026-01-01') as y",
      'o,a,y\nt,1 year,2026\n(1 row)',
    ],
    [
      "select 5 / 2 as a, 5 % 2 as b, 5.0 / 2 > 2.4 as c, 2 ^ 3 as d, -abs(-1) as e, 1.25::numeric(3, 1) as f, 1.5::float8::int as g, '7'::int as h, 1::bool as i",
      'a,b,c,d,e,f,g,h,i\n2,1,t,8,-1,1.3,2,7,t\n(1 row)',
    ],
    [
      "select regexp_replace('a1b2', '[0-9]', '', 'g') as a, split_part('a-b', '-', 2) as b, lag(n) over (order by n) as c from (values (1)) as v (n)",
      'a,b,c\nab,b,\n(1 row)',
    ],
    ['table customers limit 0', 'id,name,country,region,parent_id\n(0 rows)'],
    ['values (1), (2)', 'column1\n1\n2\n(2 rows)'],
    ['select name from customers where id = 1;', 'name\nHanbyeol Electronics\n(1 row)'],
    ['select \'한국 😀\' as "이름"', '이름\n한국 😀\n(1 row)'],
    [
      "select count(*) from sales where amount between 1 and 1e6 and channel in ('domestic') and customer_id is distinct from 1 and not customer_id = any (array[2, 3])",
      expect.stringMatching(/^count\n\d{4}\n/),
    ],
    [
      'select c.name, c.count from (select name, count(*) over () from customers) as c order by 1 limit 1',
      'name,count\nAran Furniture,62\n(1 row)',
    ],
  ])('works: %s', async (query, expected) => {
    const result = await run(query);
    expect(result).toEqual({ text: expected, isError: false });
  });
});

describe('the SQL tool', () => {
  it('tells the model of the schema, always with the same bytes', async () => {
    await base.withTool({}, async (again) => expect(again.definition).toEqual(base.tool.definition));
    const { description, ...rest } = base.tool.definition;
    expect(rest).toMatchObject({ type: 'builtin', name: 'sql', effect: 'read', approval: false });
    expect(description).toContain('today is 2026-06-15 in this data');
    expect(description).toContain('  parent_id integer -- Of an overseas subsidiary');
    expect(description).toContain('  FOREIGN KEY (customer_id) REFERENCES customers(id)');
  });

  it('gives the message of Postgres for a query that fails, and nothing of the server', async () => {
    expect(await run('select nope from sales')).toEqual({
      text: 'column "nope" does not exist (at character 8)',
      isError: true,
    });
    expect(await run('select 1 / 0')).toEqual({ text: 'division by zero', isError: true });
    expect(await run("select 'x'::int")).toMatchObject({ text: expect.stringContaining('invalid input syntax') });
    expect(await run('select sum(name) from customers')).toMatchObject({ text: expect.stringContaining('Hint:') });
  });

  it('cuts a result by rows and says so', async () => {
    const { text, isError } = await run('select id from sales');
    expect(isError).toBe(false);
    expect(text.split('\n')).toHaveLength(202);
    expect(text).toContain('(cut at 200 rows: the first 200 rows, and there are more.');
  });

  it('ends the statement on the server when its run is aborted', async () => {
    const abort = new AbortController();
    const running = run('select count(*) from sales a, sales b, sales c, sales d', base.tool, abort.signal);
    await delay(300);
    abort.abort();
    expect(await running).toEqual({ text: 'The query was cancelled.', isError: true });
    const busy = async () =>
      (
        await base.admin.query(`select from pg_stat_activity where usename = $1::name and state = 'active'`, [
          base.wanted.role,
        ])
      ).rowCount;
    const until = Date.now() + 10_000;
    while ((await busy()) !== 0 && Date.now() < until) await delay(50);
    expect(await busy()).toBe(0);
    await expect(run('select 1', base.tool, abort.signal)).rejects.toThrow();
  });

  it('runs several statements at once, and more than it has connections one after the other', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => run(`select ${n} as n`)));
    expect(results.map((result) => result.text)).toEqual(Array.from({ length: 20 }, (_, n) => `n\n${n}\n(1 row)`));
  });

  it('says that the database cannot be reached without saying where it is', async () => {
    const lost = await createSqlTool({ url: base.url });
    await base.admin.query(`alter role ${base.wanted.role} nologin`);
    await base.admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = $1::name`, [
      base.wanted.role,
    ]);
    await delay(200);
    const result = await run('select 1', lost).finally(() => base.admin.query(`alter role ${base.wanted.role} login`));
    expect(result.isError).toBe(true);
    expect(result.text).not.toMatch(/127|localhost|sql_/);
    expect(await run('select 1 as one', lost)).toEqual({ text: 'one\n1\n(1 row)', isError: false });
    await lost.close();
  });
});
