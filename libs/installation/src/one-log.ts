import type { Pool } from '@palimpsest/platform';

/** Where the log is, of which this database holds the keys and the read models. One row. */
export const oneLogSchema = `
create schema if not exists ops;
create table if not exists ops.log (
  is_the_one boolean primary key default true check (is_the_one),
  kind text not null check (kind in ('postgres', 'eventstoredb'))
);
`;

export type LogKind = 'postgres' | 'eventstoredb';

const names: Readonly<Record<LogKind, string>> = { postgres: 'Postgres', eventstoredb: 'EventStoreDB' };

/**
 * Checkpoints and revisions in a database are those of one log, and mean nothing in another: events would be passed over in silence. The
 * first start says which kind of log it is, and every other one keeps to it.
 */
export async function keepToOneLog(pool: Pool, kind: LogKind): Promise<void> {
  await pool.query(`insert into ops.log (kind) values ($1::text) on conflict (is_the_one) do nothing`, [kind]);
  const { rows } = await pool.query<{ kind: LogKind }>(`select kind from ops.log`);
  const known = rows[0]?.kind ?? kind;
  if (known === kind) return;
  throw new Error(
    `The keys and read models in this database are those of a log in ${names[known]}, and ${
      kind === 'eventstoredb' ? 'EVENTSTORE_URL names another one' : 'EVENTSTORE_URL is not set'
    }. ${known === 'postgres' ? 'Unset EVENTSTORE_URL' : 'Set it'}, or begin anew with another database.`,
  );
}
