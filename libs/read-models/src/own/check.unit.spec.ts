import { checkDefinition } from './check';

const asking = (sql: string) => ({ name: 'p', version: 1, tables: {}, on: {}, query: { sql } });

describe("an own projection's query", () => {
  it('is one select', () => {
    expect(checkDefinition(asking('select 1 as one')).name).toBe('p');
    expect(() => checkDefinition(asking('select 1; delete from read.t'))).toThrow('must be one select');
  });

  it.each([
    `with s as materialized (select set_config('palimpsest.tenant', 'other', true)) select t.* from s, read.t t`,
    `select pg_catalog.SET_CONFIG('palimpsest.tenant', 'other', true)`,
    String.raw`select u&"set\005fconfig"('palimpsest.tenant', 'other', true)`,
  ])('can not become another tenant: %s', (sql) => {
    expect(() => checkDefinition(asking(sql))).toThrow('must not call set_config');
  });

  it.each(['read.spent_rows', 'read."spent_rows"', 'read_p_v1_g1.SPENT_ROWS'])(
    'can not name the table of all tenants behind the one of its own: %s',
    (named) => {
      const spent = { columns: { id: 'text' }, key: ['id'], erase: 'keep' };
      const naming = (table: string) => ({ ...asking(`select * from ${table}`), tables: { spent } });
      expect(checkDefinition(naming('read.spent as spent_rows')).name).toBe('p');
      expect(() => checkDefinition(naming(named))).toThrow('names spent_rows, which holds the rows of all tenants');
    },
  );
});
