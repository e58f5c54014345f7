import type { Pool } from 'pg';
import type { SnapshotRow, SnapshotStore } from './snapshots';

/** Idempotent. The rows are sealed, and may be deleted at any time. */
export const snapshotsSchema = `
create schema if not exists read;
create table if not exists read.snapshots (
  stream text primary key,
  version integer not null,
  revision bigint not null,
  sealed text not null
);
`;

const READ = `select version, revision::text as revision, sealed from read.snapshots where stream = $1::text`;

const REPLACE = `
insert into read.snapshots as kept (stream, version, revision, sealed)
values ($1::text, $2::integer, $3::bigint, $4::text)
on conflict (stream) do update
set version = excluded.version, revision = excluded.revision, sealed = excluded.sealed
where kept.version <> excluded.version or kept.revision < excluded.revision`;

export class PostgresSnapshotStore implements SnapshotStore {
  constructor(private readonly pool: Pick<Pool, 'query'>) {}

  async read(stream: string): Promise<SnapshotRow | null> {
    const { rows } = await this.pool.query<{ version: number; revision: string; sealed: string }>(READ, [stream]);
    const row = rows[0];
    return row ? { stream, version: row.version, revision: BigInt(row.revision), sealed: row.sealed } : null;
  }

  async replace({ stream, version, revision, sealed }: SnapshotRow): Promise<void> {
    await this.pool.query(REPLACE, [stream, version, String(revision), sealed]);
  }

  async remove(stream: string): Promise<void> {
    await this.pool.query(`delete from read.snapshots where stream = $1::text`, [stream]);
  }
}
