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
});
