import type { Pool } from '@palimpsest/platform';

/** Where the log is, of which this database holds the keys and the read models. One row. */
export const oneLogSchema = `
create schema if not exists ops;
create table if not exists ops.log (
  is_the_one boolean primary key default true check (is_the_one),
  kind text not null check (kind in ('postgres', 'eventstoredb')),
  namespace text not null
);
`;

export interface LogName {
  readonly kind: 'postgres' | 'eventstoredb';
  /** The part of it that is this installation's; all of it where there is none. */
  readonly namespace?: string | undefined;
}

/**
 * Checkpoints and revisions in a database are those of one log, and mean nothing in another: events would be passed over in silence. The
 * first start says which log it is, and every other one keeps to it.
 */
export async function keepToOneLog(pool: Pool, { kind, namespace = '' }: LogName): Promise<void> {
  const named = { kind, namespace };
  await pool.query(
    `insert into ops.log (kind, namespace) values ($1::text, $2::text) on conflict (is_the_one) do nothing`,
    [kind, namespace],
  );
  const { rows } = await pool.query<Required<LogName>>(`select kind, namespace from ops.log`);
  const known = rows[0] ?? named;
  if (known.kind === kind && known.namespace === namespace) return;
  throw new Error(
    `The keys and read models in this database are those of a log in ${described(known)}, and ${difference(known.kind, kind)}, or begin anew with another database.`,
  );
}

function described({ kind, namespace }: LogName): string {
  if (kind === 'postgres') return 'Postgres';
  return namespace ? `EventStoreDB, namespace ${namespace}` : 'EventStoreDB';
}

function difference(known: LogName['kind'], given: LogName['kind']): string {
  if (known === given) return 'EVENTSTORE_NAMESPACE says otherwise. Set it as it was';
  return known === 'postgres'
    ? 'EVENTSTORE_URL names another one. Unset EVENTSTORE_URL'
    : 'EVENTSTORE_URL is not set. Set it';
}
