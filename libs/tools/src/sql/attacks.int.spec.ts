import { connected, sqlTestDatabase, type SqlTestDatabase } from '../../testing';

let base: SqlTestDatabase;
const run: SqlTestDatabase['run'] = (...args) => base.run(...args);
beforeAll(async () => void (base = await sqlTestDatabase()), 60_000);
afterAll(() => base.close());

/** Each was tried on a server, and did what it says where only the text of calls is checked, or only a read-only transaction is opened. */
const attacks = [
  'select pg_advisory_lock(1)',
  'select pg_advisory_xact_lock_shared(1)',
  'select (1::bigint).pg_advisory_lock',
  'select s.pg_advisory_lock from generate_series(1, 1) as s',
  "select set_config('transaction_read_only', 'off', false)",
  "select set_config('statement_timeout', '0', true)",
  "select query_to_xml('select pg_sleep(1)', true, true, '')",
  "select table_to_xml('sales', true, true, '')",
  'select database_to_xml(true, true, true)',
  "select cursor_to_xml('result', 1, true, true, '')",
  'select pg_sleep(10)',
  "select pg_sleep_for('10 s')",
  'select s.pg_sleep from unnest(array[10.0::float8]) as s',
  "select pg_read_file('PG_VERSION')",
  "select s.pg_read_file from unnest(array['PG_VERSION']) as s",
  "select pg_ls_dir('.')",
  'select pg_cancel_backend(1)',
  'select pg_terminate_backend(1)',
  'select pg_reload_conf()',
  'select lo_create(0)',
  "select lo_from_bytea(0, 'x')",
  'select lo_get(1)',
  "select pg_notify('a', 'b')",
  'select pg_current_xact_id()',
  'select txid_current()',
  'select pg_export_snapshot()',
  "select nextval('x')",
  "select current_setting('data_directory')",
  'select version()',
  'select inet_server_addr()',
  'select pg_postmaster_start_time()',
  'select pg_backend_pid()',
  "select pg_relation_filepath('sales')",
  "select to_regclass('pg_authid')",
  "select has_database_privilege('postgres', 'connect')",
  "select pg_logical_emit_message(false, 'a', 'b')",
  "select repeat('x', 1000000000)",
  "select lpad('x', 1000000000)",
  'select random()',
  'select setseed(0)',
  "select ts_stat('select 1')",
  "select * from ts_stat('select pg_sleep(1)::text::tsvector')",
  "select * from dblink('dbname=postgres', 'select 1') as a (b int)",
  'select rolpassword from pg_authid',
  'select passwd from pg_shadow',
  'select * from pg_user',
  'select query from pg_stat_activity',
  'select * from pg_settings',
  'select * from pg_hba_file_rules',
  'select * from pg_database',
  'select * from pg_stats',
  'select * from information_schema.columns',
  'insert into sales default values',
  'with a as (delete from sales returning id) select * from a',
  'create table x (id int)',
  'create temp table x (id int)',
  'select 1 as id into temp x',
  "copy sales to program 'cat'",
  "copy sales from '/etc/passwd'",
  'do $$ begin perform pg_sleep(1); end $$',
  'create function f() returns int language sql as $$ select 1 $$',
  'select * from sales for update',
  'lock table sales in access exclusive mode',
];

describe('an attack', () => {
  it.each(attacks)('is refused by the check: %s', async (query) => {
    const result = await run(query);
    expect(result.isError).toBe(true);
    expect(result.text).toMatch(/not allowed|not available|There is no table|Only SELECT/);
  });

  it.each(attacks)('is refused by the server alone: %s', async (query) => {
    await connected(base.url, async (reader) => {
      await reader.query('begin read only');
      await expect(reader.query(query)).rejects.toMatchObject({
        code: expect.stringMatching(/^(42501|42883|25006|42P01|42704)$/),
      });
    });
  });

  it.each([
    'explain analyze select 1',
    'explain select 1',
    'select 1; select 2',
    'select 1; commit; drop table sales',
    'set statement_timeout = 0',
    "set session authorization 'postgres'",
    'reset all',
    'listen a',
    'commit',
    '\\copy sales to x',
    'select 1 \\gexec',
    '',
    '   ',
    '-- select 1',
    'select 1\0; drop table sales',
    "select '\ud800'",
    `select '${'x'.repeat(20_000)}'`,
  ])('is refused before it reaches the server: %j', async (query) => {
    const result = await run(query);
    expect(result.isError).toBe(true);
    expect((await run('select 1 as one')).text).toBe('one\n1\n(1 row)');
  });

  it('leaves no lock, no setting and no transaction behind', async () => {
    const left = await base.admin.query(
      `select a.state, l.locktype from pg_stat_activity a left join pg_locks l on l.pid = a.pid and l.locktype = 'advisory'
        where a.usename = $1::name and (a.state <> 'idle' or l.pid is not null)`,
      [base.wanted.role],
    );
    expect(left.rows).toEqual([]);
  });

  it('gets no further than the limits of its statement', async () => {
    await base.withTool({ statementMs: 400 }, async (limited) => {
      const slow = 'select count(*) from sales a, sales b, sales c where a.id + b.id + c.id = 1';
      expect(await run(slow, limited)).toEqual({ text: expect.stringContaining('longer than 400 ms'), isError: true });
      expect(await run('select 1 as one', limited)).toEqual({ text: 'one\n1\n(1 row)', isError: false });
    });
  });

  it('may not fill the disk', async () => {
    const result = await run('select count(*) from generate_series(1, 1000000000000)');
    expect(result).toEqual({ text: expect.stringMatching(/more room on disk|longer than/), isError: true });
  });

  it('may not fill the memory of this process', async () => {
    const large = `select string_agg(n::text, '') from generate_series(1, 1000000) as n`;
    expect(await run(large)).toEqual({ text: expect.stringContaining('larger than 4194304 bytes'), isError: true });
    expect(await run('select 1 as one')).toEqual({ text: 'one\n1\n(1 row)', isError: false });
  });
});
