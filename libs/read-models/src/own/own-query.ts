import type { KeyRing } from '@palimpsest/event-store';
import type { Pool, PoolClient } from 'pg';
import { inSchema } from '../projection';
import type { LiveTables } from '../tables';
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
  const { sql, values } = withValues(query, given);
  const rows = await tables.onLive(async (schema) => {
    const session = await pool.connect();
    try {
      await session.query(`begin read only; set local statement_timeout = ${TIMEOUT_MS}`);
      await checkTypes(session, query, given);
      await session.query(`select set_config('palimpsest.tenant', $1::text, true)`, [tenantId]);
      const text = `select * from (${inSchema(schema, sql)}) answer limit ${MAX_ROWS + 1}`;
      const answer = await session.query<Record<string, unknown>>(text, values);
      await session.query('rollback');
      session.release();
      return answer.rows;
    } catch (error) {
      session.release(true);
      throw asWrongParameter(error);
    }
  });
  const shown = rows.slice(0, MAX_ROWS);
  for (const column of query.opens ?? [])
    for (const row of shown) row[column] = await openSealed(name, row[column], keys);
  return { rows: shown, cut: rows.length > MAX_ROWS };
}

function withValues(query: OwnQuery, given: Readonly<Record<string, string>>) {
  const parameters = query.parameters ?? {};
  for (const name of Object.keys(given))
    if (!Object.hasOwn(parameters, name)) throw new WrongParameter(`The parameter ${name} is not known here`);
  for (const [name, { required }] of Object.entries(parameters))
    if (required && given[name] === undefined) throw new WrongParameter(`The parameter ${name} is missing`);
  const used = [...new Set([...query.sql.matchAll(PARAMETER)].map(([, name = '']) => name))];
  const sql = query.sql.replace(
    PARAMETER,
    (_, name: string) => `$${used.indexOf(name) + 1}::${parameterTypes[parameters[name]?.type ?? 'text']}`,
  );
  return { sql, values: used.map((name) => given[name] ?? null) };
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

/** A text may be of the wrong form for what the query makes of it. */
function asWrongParameter(error: unknown): unknown {
  return isOfWrongType(error) ? new WrongParameter('The query cannot take the value of a parameter') : error;
}

/** Class 22: a value is not what it must be. */
function isOfWrongType(error: unknown): boolean {
  return (error as { readonly code?: string }).code?.startsWith('22') ?? false;
}
