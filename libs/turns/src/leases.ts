import type { Pool } from 'pg';

/**
 * Leases say only whether a carrier lives; no safety rests on them (PROTOCOL section 4). Times are Postgres's. No row is shared between
 * processes, and a missing lease is a lapsed one.
 */
export const leasesSchema = `
create schema if not exists ops;
create table if not exists ops.leases (
  carrier uuid primary key,
  conversation_id uuid not null,
  turn_id uuid not null,
  expires_at timestamptz not null
);
`;

export class Leases {
  constructor(
    private readonly pool: Pool,
    /** How long a lease lives without a renewal. Milliseconds. */
    private readonly leaseMs: number,
  ) {}

  /** Before the append that names the carrier. */
  async insert(carrier: string, conversationId: string, turnId: string): Promise<void> {
    await this.pool.query(
      `insert into ops.leases (carrier, conversation_id, turn_id, expires_at)
       values ($1::uuid, $2::uuid, $3::uuid, now() + $4::int * interval '1 millisecond')`,
      [carrier, conversationId, turnId, this.leaseMs],
    );
  }

  /** One statement for all that this process works on. */
  async renew(carriers: readonly string[]): Promise<void> {
    if (!carriers.length) return;
    await this.pool.query(
      `update ops.leases set expires_at = now() + $2::int * interval '1 millisecond' where carrier = any($1::uuid[])`,
      [carriers, this.leaseMs],
    );
  }

  async delete(carriers: readonly string[]): Promise<void> {
    if (!carriers.length) return;
    await this.pool.query(`delete from ops.leases where carrier = any($1::uuid[])`, [carriers]);
  }

  /** Those among these whose lease lives. */
  async living(carriers: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.pool.query<{ carrier: string }>(
      `select carrier::text from ops.leases where carrier = any($1::uuid[]) and expires_at > now()`,
      [carriers],
    );
    return new Set(rows.map((row) => row.carrier));
  }

  /** For an embedded start that holds the lock of its data directory: no other carrier can live. */
  async deleteAll(): Promise<void> {
    await this.pool.query(`delete from ops.leases`);
  }
}
