import type { KeyRing } from '@palimpsest/event-store';
import type { Pool, PoolClient } from 'pg';
import { inSchema } from '../projection';
import type { LiveTables } from '../tables';
import { isInfrastructure } from '../faults';
import { PARAMETER } from './check';
import { type OwnDefinition, type OwnQuery, parameterTypes } from './definition';
import { openSealed } from './own-projection';

/** Rows of one answer at most. */
export const MAX_ROWS = 1_000;
/** Milliseconds that one query may take. */
const TIMEOUT_MS = 5_000;

/** A parameter is missing, is not known, or is not of its type. */
export class WrongParameter extends Error {
  override readonly name = 'WrongParameter';
}

/** Postgres could not answer the query, and no value that was given is at fault: whoever keeps the projection mends it. Quotes no row. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed';
}

export interface OwnAnswer {
  readonly rows: readonly Record<string, unknown>[];
  /** There are more. */
  readonly cut: boolean;
}

/** The query of an operator's own projection: over the rows of one tenant, whatever its SQL says, and it writes nothing. */
export async function runOwnQuery(
  { pool, tables, keys }: { readonly pool: Pool; readonly tables: LiveTables; readonly keys: KeyRing },
  { name, query }: OwnDefinition & { readonly query: OwnQuery },
  tenantId: string,
  given: Readonly<Record<string, string>>,
): Promise<OwnAnswer> {
  checkNames(query, given);
  const { text, names } = statementOf(query);
  const rows = await reading({ pool, tables }, async (session, schema) => {
    await checkTypes(session, query, given);
    await session.query(`select set_config('palimpsest.tenant', $1::text, true)`, [tenantId]);
    const values = names.map((name) => given[name] ?? null);
    return (await session.query<Record<string, unknown>>(inSchema(schema, text), values)).rows;
  }).catch((error: unknown) => {
    throw laidAtItsDoor(name, error);
  });
  const shown = rows.slice(0, MAX_ROWS);
  for (const column of query.opens ?? [])
    for (const row of shown) row[column] = await openSealed(name, row[column], keys);
  return { rows: shown, cut: rows.length > MAX_ROWS };
}

/** Rejects with what Postgres says of a query that it does not understand: a table, a column or a function that is not there, types that do not go together. */
export async function checkOwnQuery(
  from: { readonly pool: Pool; readonly tables: LiveTables },
  query: OwnQuery,
): Promise<void> {
  const { text } = statementOf(query);
  await reading(from, async (session, schema) => {
    await session.query(`prepare palimpsest_own_query as ${inSchema(schema, text)}`);
    await session.query('deallocate palimpsest_own_query');
  });
}

/** In a transaction that writes nothing, in the schema of the live generation. */
function reading<T>(
  { pool, tables }: { readonly pool: Pool; readonly tables: LiveTables },
  work: (session: PoolClient, schema: string) => Promise<T>,
): Promise<T> {
  return tables.onLive(async (schema) => {
    const session = await pool.connect();
    try {
      await session.query(`begin read only; set local statement_timeout = ${TIMEOUT_MS}`);
      const found = await work(session, schema);
      await session.query('rollback');
      session.release();
      return found;
    } catch (error) {
      session.release(true);
      throw error;
    }
  });
}

function checkNames({ parameters = {} }: OwnQuery, given: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(parameters, name)) throw new WrongParameter(`The parameter ${name} is not known here`);
  for (const [name, { required }] of Object.entries(parameters))
    if (required && given[name] === undefined) throw new WrongParameter(`The parameter ${name} is missing`);
}

/** As Postgres takes it; `names`: which parameter is $1, which $2, ... */
function statementOf({ sql, parameters = {} }: OwnQuery): { readonly text: string; readonly names: readonly string[] } {
  const names = [...new Set([...sql.matchAll(PARAMETER)].map(([, name = '']) => name))];
  const numbered = sql.replace(
    PARAMETER,
    (_, name: string) => `$${names.indexOf(name) + 1}::${parameterTypes[parameters[name]?.type ?? 'text']}`,
  );
  return { text: `select * from (${numbered}) answer limit ${MAX_ROWS + 1}`, names };
}

/** Each by itself, so that the answer says which one it is. */
async function checkTypes(session: PoolClient, { parameters = {} }: OwnQuery, given: Readonly<Record<string, string>>) {
  for (const [name, { type }] of Object.entries(parameters)) {
    const value = given[name];
    if (value === undefined || type === 'text') continue;
    try {
      await session.query(`select $1::${parameterTypes[type]}`, [value]);
    } catch (error) {
      throw isOfWrongType(error) ? new WrongParameter(`The parameter ${name} must be of the type ${type}`) : error;
    }
  }
}

/** Text that is no value of a type, a date of another form or beyond the calendar, a number out of range, a character that no text holds. */
const OF_A_VALUE = ['22P02', '22007', '22008', '22003', '22021'];
const TIMED_OUT = '57014';

/** A text may be of the wrong form for what the query makes of it. What else it cannot do, division by zero among it, is its own fault. */
function laidAtItsDoor(name: string, error: unknown): unknown {
  if (isOfWrongType(error)) return new WrongParameter('The query cannot take the value of a parameter');
  const { code } = error as { readonly code?: string };
  if (code === TIMED_OUT)
    return new QueryFailed(`The query of the projection ${name} took more than ${TIMEOUT_MS / 1000} seconds`);
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code) || isInfrastructure(error)) return error;
  return new QueryFailed(`The query of the projection ${name} failed with the SQLSTATE ${code}`);
}

function isOfWrongType(error: unknown): boolean {
  return OF_A_VALUE.includes((error as { readonly code?: string }).code ?? '');
}
