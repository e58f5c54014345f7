import { refusalOf, type Readable } from './check';
import { parseSql } from './parser';

const readable: Readable = {
  tables: new Set(['customers', 'sales']),
  columns: new Set(['id', 'name', 'parent_id', 'customer_id', 'sold_on', 'amount', 'channel']),
  functions: new Set(['sum', 'abs', 'name', 'pg_sleep', 'pg_advisory_lock', 'set_config', 'query_to_xml', 'version']),
};

async function refusal(sql: string): Promise<string | null> {
  const parsed = await parseSql(sql);
  return parsed.ok ? refusalOf(parsed.statements, readable) : `parser: ${parsed.message}`;
}

/** Every place of a SELECT in which an expression can stand; `?` is where. */
const places = [
  'select ?',
  'select ? as x from sales',
  'select distinct on (?) id from sales',
  'select id from sales where ? is null',
  'select id from sales where (?) is true',
  'select id from sales where not (?) = 1',
  'select id from sales where 1 = any (array[?])',
  'select id from sales where 1 in (2, ?)',
  'select id from sales where 1 between 0 and ?',
  'select id from sales where exists (select ? from customers)',
  'select id from sales where id = any (select ? from customers)',
  'select id from sales where id is distinct from ?',
  'select count(*) from sales group by ?',
  'select count(*) from sales group by grouping sets ((?), ())',
  'select count(*) from sales having ? = 1',
  'select id from sales order by ?',
  'select id from sales limit ?',
  'select id from sales offset (?)',
  'select id from sales fetch first (?) rows only',
  'select sum(amount) filter (where ? = 1) from sales',
  'select sum(amount order by ?) from sales',
  'select percentile_cont(0.5) within group (order by ?) from sales',
  'select sum(amount) over (partition by ?) from sales',
  'select sum(amount) over (order by id rows between ? preceding and current row) from sales',
  'select sum(amount) over w from sales window w as (order by ?)',
  'select case ? when 1 then 2 end',
  'select case when 1 = ? then 2 end',
  'select case when true then ? else 3 end',
  'select coalesce(null, ?)',
  'select nullif(1, ?)',
  'select greatest(1, ?)',
  'select abs(?)',
  'select make_interval(days => ?)',
  'select array[1, ?]',
  'select (array[1])[?]',
  'select (array[1])[1:?]',
  'select row(1, ?)',
  'select (?)::int',
  'select cast(? as text)',
  'select (?)::text collate "C"',
  "select (?)::text like 'a' escape 'b'",
  "select extract(year from date '2026-01-01' + ?)",
  "select (?)::timestamp at time zone 'UTC'",
  "select substring('a' from ?)",
  'select 1 + -(?)',
  'select 1 operator(pg_catalog.+) ?',
  'values (1), (?)',
  'select 1 union all select ?',
  'select 1 except (select ? intersect select 2)',
  'with a as (select ?) select * from a',
  'with recursive a(n) as (select 1 union all select n + ? from a where n < 3) select * from a',
  'select * from (select ?) as a',
  'select * from (values (?)) as a (b)',
  'select * from generate_series(1, ?) as n',
  'select * from rows from (generate_series(1, ?), generate_series(1, 2)) as n',
  'select * from unnest(array[?]) with ordinality as n',
  'select * from sales s join customers c on c.id = ?',
  'select * from sales s cross join lateral (select ?) as a',
  'select (select (select ?))',
];

describe('the check of a statement', () => {
  it.each(places)('finds a function that is not allowed wherever it stands: %s', async (place) => {
    const put = (expression: string): string => place.replace('?', expression);
    expect(await refusal(put('1'))).toBeNull();
    for (const attack of [
      'pg_sleep(1)',
      'pg_catalog.pg_sleep(1)',
      '"pg_sleep"(1)',
      'U&"pg\\005fsleep"(1)',
      '(1).pg_sleep',
    ])
      expect(await refusal(put(attack))).toMatch(/pg_sleep.*not allowed/);
  });

  it.each([
    'insert into sales default values',
    'update sales set id = 1',
    'delete from sales',
    'truncate sales',
    'merge into sales using customers on true when matched then delete',
    'create table x (id int)',
    'create temp table x as select 1',
    'drop table sales',
    'copy sales to stdout',
    "copy (select 1) to program 'id'",
    'do $$ begin end $$',
    'call x()',
    'explain select 1',
    'explain analyze select 1',
    'prepare x as select 1',
    'execute x',
    'declare c cursor for select 1',
    'begin',
    'commit',
    'set statement_timeout = 0',
    'reset all',
    'show all',
    'lock table sales',
    'listen x',
    'notify x',
    "load 'x'",
    'vacuum',
    'checkpoint',
    'grant select on sales to public',
    'create function f() returns int language sql as $$ select 1 $$',
  ])('takes SELECT alone: refuses %s', async (sql) => {
    expect(await refusal(sql)).toBe('Only SELECT is allowed.');
  });

  it.each([
    'select 1; select 2',
    'select 1; drop table sales',
    'select 1;;select 2',
    'select 1 /* ; */; select 2 -- ;',
    ';',
    '-- nothing',
    '/* nothing */',
  ])('takes exactly one statement: refuses %s', async (sql) => {
    expect(await refusal(sql)).toMatch(/exactly one statement/);
  });

  it.each([
    ['an insert in a WITH clause', 'with a as (insert into sales default values returning id) select * from a'],
    ['a delete below', 'select * from (with a as (delete from sales returning id) select * from a) as b'],
    ['select into', 'select 1 into x'],
    ['select into temp', 'select id into temp x from sales'],
    ['for update', 'select * from sales for update'],
    ['for share below', 'select * from (select * from sales for share) as s'],
    ['for key share in a WITH clause', 'with a as (select * from sales for key share skip locked) select * from a'],
    ['table samples', 'select * from sales tablesample system (1)'],
    ['operators to sort by', 'select * from sales order by id using <'],
    ['parameters', 'select $1'],
    ['xml', "select xmlparse(document '<a/>')"],
    ['xmltable', "select * from xmltable('/a' passing '<a/>' columns a int)"],
    ['json_table', "select * from json_table('{}', '$' columns (a int path '$.a'))"],
    ['json constructors', "select json_object('a': 1)"],
    ['column definition lists', "select * from json_to_recordset('[]') as a (b int)"],
    [
      'search clauses',
      'with recursive a(n) as (select 1 union all select n from a) search depth first by n set s select * from a',
    ],
    ['variadic calls', 'select concat(variadic array[1])'],
  ])('refuses %s', async (_what, sql) => {
    expect(await refusal(sql)).toMatch(/not allowed/);
  });

  it.each([
    'select * from pg_authid',
    'table pg_shadow',
    'select * from "pg_stat_activity"',
    'select * from U&"pg\\005fuser"',
    'select * from pg_catalog.pg_class',
    'select * from information_schema.tables',
    'select * from public.pg_authid',
    'select * from other.sales',
    'select * from postgres.public.sales',
    'select * from only pg_authid',
    'with pg_authid as (select 1) select * from pg_authid',
    'select * from nowhere',
    'select 1 where exists (select from pg_database)',
  ])('reads the tables it was told of alone: refuses %s', async (sql) => {
    expect(await refusal(sql)).toMatch(/There is no table|not available here|not allowed here/);
  });

  it.each([
    "select 'pg_authid'::regclass",
    "select regclass 'pg_authid'",
    "select regclass('pg_authid')",
    "select cast('x' as pg_catalog.regproc)",
    "select '1'::public.anything",
    "select 'x'::name",
    "select '<a/>'::xml",
    'select null::sales',
    'select null::sales.id%type',
    'select 1::oid',
    'select 1 operator(public.+) 2',
    'select 1 @@ 2',
    'select current_user',
    'select session_user',
    'select current_catalog',
    'select current_schema',
    'select user',
    'select public.sum(1)',
    'select sales.name(1)',
    'select * from sales s where s.version = 1',
    'select (s).version from sales s',
    'select s.pg_advisory_lock from generate_series(1, 1) as s',
    "select (s.x).set_config from (select row('a', 'b', false) as x) as s",
  ])('refuses names that are not allowed: %s', async (sql) => {
    expect(await refusal(sql)).toMatch(/not allowed here|not available here/);
  });

  it('leaves comments, quoting and letter case to the parser', async () => {
    expect(
      await refusal('/* a /* nested */ comment */ SELECT "id" FROM SALES -- pg_sleep(1); drop table x'),
    ).toBeNull();
    expect(await refusal('select \'pg_sleep(1); drop table x\' as "select" from "sales"')).toBeNull();
    expect(await refusal('select PG_SLEEP(1)')).toMatch(/not allowed/);
    expect(await refusal('select pg_sleep/**/(1)')).toMatch(/not allowed/);
    expect(await refusal('select * from sales s where s.name = $$a$$')).toBeNull();
  });

  it('walks trees of any depth that the parser can print', async () => {
    expect(await refusal(`select ${'1 + '.repeat(300)}1`)).toBeNull();
    expect(await refusal(`select ${'1 + '.repeat(300)}pg_sleep(1)`)).toMatch(/not allowed/);
  });
});
