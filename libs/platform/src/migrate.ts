import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { withTransaction } from './pg';

/** One step of a schema's history. Add to the end, never edit: what was applied somewhere is history. */
export interface Migration {
  /** Unique, for example 'event-log/001-events'. */
  readonly name: string;
  readonly sql: string;
}

/** 'Pali' and 'migr', as two int4. */
const lock = [1_348_562_025, 1_835_624_306] as const;

/**
 * Applies what is missing, in the order given, in one transaction; processes that start together wait for each other. Says what it
 * applied. What is recorded in `ops.migrations` and not in the list belongs to another part of the installation and is left alone.
 *
 * @throws where a migration that was applied has since been edited.
 */
export async function migrate(pool: Pool, migrations: readonly Migration[]): Promise<readonly string[]> {
  return withTransaction(pool, async (client) => {
    await client.query(`set local lock_timeout = '60s'`);
    await client.query(`set local statement_timeout = 0`);
    await client.query('select pg_advisory_xact_lock($1::int4, $2::int4)', [...lock]);
    const applied = await recorded(client);
    const missing = migrations.filter((migration) => !isApplied(migration, applied));
    for (const migration of missing) await apply(client, migration);
    return missing.map(({ name }) => name);
  });
}

async function recorded(client: PoolClient): Promise<ReadonlyMap<string, string>> {
  await client.query(`
    create schema if not exists ops;
    create table if not exists ops.migrations (
      name text primary key,
      digest text not null,
      applied_at timestamptz not null default now()
    )`);
  const { rows } = await client.query<{ name: string; digest: string }>('select name, digest from ops.migrations');
  return new Map(rows.map(({ name, digest }) => [name, digest]));
}

function isApplied(migration: Migration, applied: ReadonlyMap<string, string>): boolean {
  const known = applied.get(migration.name);
  if (known === undefined) return false;
  if (known === digest(migration)) return true;
  throw new Error(
    `Migration ${migration.name} was changed after this database had applied it. Restore its text, and add a new migration instead.`,
  );
}

async function apply(client: PoolClient, migration: Migration): Promise<void> {
  try {
    await client.query(migration.sql);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Migration ${migration.name} failed: ${reason}. Nothing was changed.`, { cause: error });
  }
  const record = 'insert into ops.migrations (name, digest) values ($1::text, $2::text)';
  await client.query(record, [migration.name, digest(migration)]);
}

/** White space may change, words may not. */
function digest({ sql }: Migration): string {
  return createHash('sha256').update(sql.replace(/\s+/g, ' ').trim()).digest('hex');
}
