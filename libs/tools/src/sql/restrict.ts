import { type Client, escapeIdentifier as name } from 'pg';
import { allowedFunctions, allowedOperators, allowedTypes } from './allowed';
import { schemaCatalogs, schemaFunctions } from './schema';

/**
 * Takes from PUBLIC, in this database, whatever a statement of the SQL tool has no business with, so that a way around the check of its
 * text ends at the server: all functions but the allowed ones and those behind allowed operators and casts, all catalogs but those that
 * describe the schema, the languages of DO blocks, and CREATE. The role gets to read the tables of `public`. Later starts find little to do.
 */
export async function restrictDatabase(owner: Client, role: string): Promise<void> {
  await owner.query(`revoke all on schema public from public; grant usage on schema public to ${name(role)}`);
  await owner.query(`grant select on all tables in schema public to ${name(role)}`);
  await revoke(owner, 'execute on routine', callableBeyond(), [
    [...allowedFunctions, ...schemaFunctions],
    [...allowedOperators],
    [...allowedTypes],
  ]);
  await revoke(
    owner,
    'all on table',
    `select oid::regclass::text as thing from pg_class
      where relnamespace in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) and relkind in ('r', 'v')
        and not (relnamespace = 'pg_catalog'::regnamespace and relname = any ($1::name[]))
        and has_table_privilege('public', oid, 'select')
      order by 1`,
    [schemaCatalogs],
  );
  await revoke(
    owner,
    'usage on language',
    `select quote_ident(lanname) as thing from pg_language where lanpltrusted and has_language_privilege('public', oid, 'usage') order by 1`,
    [],
  );
}

const callableBeyond = (): string => `
  select p.oid::regprocedure::text as thing
    from pg_proc p
   where has_function_privilege('public', p.oid, 'execute')
     and not (p.proname = any ($1::name[]) and p.pronamespace = 'pg_catalog'::regnamespace)
     and p.oid not in (select oprcode from pg_operator
                        where oprname = any ($2::name[]) and oprnamespace = 'pg_catalog'::regnamespace)
     and p.oid not in (select c.castfunc
                         from pg_cast c join pg_type s on s.oid = c.castsource join pg_type t on t.oid = c.casttarget
                        where s.typname = any ($3::name[]) and t.typname = any ($3::name[]))
   order by 1`;

async function revoke(
  owner: Client,
  what: string,
  query: string,
  values: readonly (readonly string[])[],
): Promise<void> {
  const { rows } = await owner.query<{ thing: string }>(query, [...values]);
  if (rows.length > 0) await owner.query(`revoke ${what} ${rows.map((row) => row.thing).join(', ')} from public`);
}
