import type { Pool } from 'pg';
import type { KeyRow, Rewrapping, RotatableKeyStore } from './key-store';

/** Idempotent. Schema `ops` holds what can't be rebuilt; its backup must never be older than the log. */
export const keysSchema = `
create schema if not exists ops;
create table if not exists ops.keys (
  id text primary key,
  wrapped_by text not null,
  wrapped bytea,
  created_at timestamptz not null default now(),
  destroyed_at timestamptz,
  check ((wrapped is null) = (destroyed_at is not null))
);
`;

const CHAIN = `
with recursive chain as (
  select id, wrapped_by, wrapped, 0 as level from ops.keys where id = $1::text
  union all
  select above.id, above.wrapped_by, above.wrapped, below.level + 1
  from ops.keys above join chain below on above.id = below.wrapped_by
  where below.level < 4
)
select id, wrapped_by, wrapped from chain order by level`;

const INSERT = `
insert into ops.keys (id, wrapped_by, wrapped)
values ($1::text, $2::text, $3::bytea)
on conflict (id) do nothing`;

const DESTROY = `
insert into ops.keys (id, wrapped_by, wrapped, destroyed_at)
values ($1::text, '', null, now())
on conflict (id) do update set wrapped = null, destroyed_at = now() where keys.wrapped is not null`;

const HANGING_ELSEWHERE = `
select id, wrapped_by, wrapped from ops.keys
where wrapped is not null and wrapped_by like 'installation-%' and wrapped_by <> $1::text and id > $2::text
order by id limit $3::int`;

/** One statement is one transaction. */
const REWRAP = `
update ops.keys k set wrapped_by = n.wrapped_by, wrapped = n.wrapped
from unnest($1::text[], $2::bytea[], $3::text[], $4::bytea[]) as n (id, old, wrapped_by, wrapped)
where k.id = n.id and k.wrapped = n.old`;

export class PostgresKeyStore implements RotatableKeyStore {
  constructor(private readonly pool: Pick<Pool, 'query'>) {}

  async chain(id: string): Promise<readonly KeyRow[]> {
    const { rows } = await this.pool.query<{ id: string; wrapped_by: string; wrapped: Buffer | null }>(CHAIN, [id]);
    return rows.map((row) => ({ id: row.id, wrappedBy: row.wrapped_by, wrapped: row.wrapped }));
  }

  async insert(row: KeyRow): Promise<void> {
    await this.pool.query(INSERT, [row.id, row.wrappedBy, row.wrapped && Buffer.from(row.wrapped)]);
  }

  async destroy(id: string): Promise<void> {
    await this.pool.query(DESTROY, [id]);
  }

  async hangingElsewhere(installationKeyId: string, after: string, limit: number) {
    const { rows } = await this.pool.query<{ id: string; wrapped_by: string; wrapped: Buffer }>(HANGING_ELSEWHERE, [
      installationKeyId,
      after,
      limit,
    ]);
    return rows.map((row) => ({ id: row.id, wrappedBy: row.wrapped_by, wrapped: row.wrapped }));
  }

  async rewrap(changes: readonly Rewrapping[]): Promise<number> {
    const { rowCount } = await this.pool.query(REWRAP, [
      changes.map(({ old }) => old.id),
      changes.map(({ old }) => Buffer.from(old.wrapped)),
      changes.map(({ wrappedBy }) => wrappedBy),
      changes.map(({ wrapped }) => Buffer.from(wrapped)),
    ]);
    return rowCount ?? 0;
  }
}
