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
  turn_id uuid,
  address text,
  expires_at timestamptz not null
);
`;

/**
 * A lease is seen by all at once, but nobody waits for it to reach the disk: every turn begins with one. Where Postgres dies in between, a
 * living carry is without its lease and may be taken over, which is safe.
 */
const LAX = `with lax as materialized (select set_config('synchronous_commit', 'off', true))`;

export class Leases {
  private address: string | undefined;

  constructor(
    private readonly pool: Pool,
    /** How long a lease lives without a renewal. Milliseconds. */
    private readonly leaseMs: number,
  ) {}

  /** Where other processes reach this one, from here on: its carries' running text is piped from there. */
  announce(address: string): void {
    this.address = address;
  }

  /** The address of the process that carries a turn; undefined where none lives, or it has none. */
  async addressOf(turnId: string): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ address: string | null }>(
      `select address from ops.leases where turn_id = $1::uuid and expires_at > now() order by expires_at desc limit 1`,
      [turnId],
    );
    const address = rows[0]?.address ?? undefined;
    return address === this.address ? undefined : address;
  }

  /** Before the append that names the carrier. `turnId`: null for a call outside a turn. */
  async insert(carrier: string, conversationId: string, turnId: string | null): Promise<void> {
    await this.pool.query(
      `${LAX} insert into ops.leases (carrier, conversation_id, turn_id, address, expires_at)
       select $1::uuid, $2::uuid, $3::uuid, $4::text, now() + $5::int * interval '1 millisecond' from lax`,
      [carrier, conversationId, turnId, this.address ?? null, this.leaseMs],
    );
  }

  /** One statement for all that this process works on. */
  async renew(carriers: readonly string[]): Promise<void> {
    if (!carriers.length) return;
    await this.pool.query(
      `${LAX} update ops.leases set expires_at = now() + $2::int * interval '1 millisecond' from lax where carrier = any($1::uuid[])`,
      [carriers, this.leaseMs],
    );
  }

  async delete(carriers: readonly string[]): Promise<void> {
    if (!carriers.length) return;
    await this.pool.query(`${LAX} delete from ops.leases using lax where carrier = any($1::uuid[])`, [carriers]);
  }

  /** Those among these whose lease lives. */
  async living(carriers: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.pool.query<{ carrier: string }>(
      `select carrier::text from ops.leases where carrier = any($1::uuid[]) and expires_at > now()`,
      [carriers],
    );
    return new Set(rows.map((row) => row.carrier));
  }

  /** Those that lapsed longer ago than this. Milliseconds. */
  async deleteLapsed(agoMs: number): Promise<void> {
    await this.pool.query(
      `${LAX} delete from ops.leases using lax where expires_at < now() - $1::int * interval '1 millisecond'`,
      [agoMs],
    );
  }

  /** For an embedded start that holds the lock of its data directory: no other carrier can live. */
  async deleteAll(): Promise<void> {
    await this.pool.query(`delete from ops.leases`);
  }
}
