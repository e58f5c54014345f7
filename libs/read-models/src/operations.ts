import type { Position } from '@palimpsest/event-store';
import type { Pool } from 'pg';
import type { Generation } from './generations';
import type { Projection } from './projection';
import { LOCK_NAMESPACE } from './projection-lock';

type Named = Pick<Projection, 'name' | 'version'>;

/** A generation, for an operator. */
export interface GenerationRow extends Generation {
  /** Events per second of late; 0 where nothing was written for a while. */
  readonly rate: number;
  readonly began_at: Date;
  readonly written_at: Date | null;
  readonly live_since: Date | null;
  /** The last failure, if there was one. */
  readonly error: string | null;
  readonly error_at: Date | null;
  readonly parked: number;
}

export interface ParkedRow {
  readonly schema: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  readonly event_id: string;
  readonly type: string;
  readonly reason: string;
  readonly attempts: number;
  readonly parked_at: Date;
  readonly retry_requested_at: Date | null;
}

/** Newest first. */
export async function listGenerations(pool: Pool, { name, version }: Named): Promise<readonly GenerationRow[]> {
  const { rows } = await pool.query<GenerationRow>(
    `select generation, schema, state, position, events, began_at, written_at, live_since, error, error_at,
       case when written_at > now() - interval '10 seconds' then coalesce(rate, 0) else 0 end as rate,
       (select count(*)::int from read.parked p where p.schema = g.schema) as parked
     from read.generations g where projection = $1::text and version = $2::int order by generation desc`,
    [name, version],
  );
  return rows;
}

/** Those of one generation that have been parked longest. */
export async function listParked(pool: Pool, schema: string, limit: number): Promise<readonly ParkedRow[]> {
  const { rows } = await pool.query<ParkedRow>(
    `select * from read.parked where schema = $1::text order by position limit $2::int`,
    [schema, limit],
  );
  return rows;
}

export async function countParked(pool: Pool, { name, version }: Named): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from read.parked p join read.generations g using (schema)
     where projection = $1::text and version = $2::int and state = 'live'`,
    [name, version],
  );
  return rows[0]?.count ?? 0;
}

/** Asks whoever writes to try parked streams again: one, or all. Says how many. */
export async function requestRetry(pool: Pool, { name, version }: Named, stream?: string): Promise<number> {
  const { rowCount } = await pool.query(
    `update read.parked p set retry_requested_at = now() from read.generations g
     where p.schema = g.schema and projection = $1::text and version = $2::int and state in ('live', 'building')
       and ($3::text is null or p.stream = $3::text)`,
    [name, version, stream ?? null],
  );
  return rowCount ?? 0;
}

/** Which session writes the live generation, by its name, and all that are there to. As Postgres has it: a dead process is in neither. */
export async function projectingSessions(
  pool: Pool,
  { name, version }: Named,
  prefix: string,
): Promise<{ readonly writer: string | null; readonly standing: readonly string[] }> {
  const { rows } = await pool.query<{ session: string; writes: boolean }>(
    `select a.application_name as session, exists (
         select from pg_locks l where l.pid = a.pid and l.locktype = 'advisory' and l.granted
           and l.classid = $1::int::oid and l.objid = (hashtext($2::text)::bigint & 4294967295)::oid) as writes
     from pg_stat_activity a where a.datname = current_database() and starts_with(a.application_name, $3::text) order by 1`,
    [LOCK_NAMESPACE, `${name}/${version}/live`, prefix],
  );
  const nameOf = ({ session }: { readonly session: string }) => session.slice(prefix.length);
  const writer = rows.find(({ writes }) => writes);
  return { writer: writer ? nameOf(writer) : null, standing: rows.filter((row) => row !== writer).map(nameOf) };
}
