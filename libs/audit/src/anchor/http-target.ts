import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from '@palimpsest/platform';
import { digestOfAnchor, parseAnchor, type SignedAnchor } from './statement';
import type { AnchorTarget } from './targets';

/** What an address has said that it keeps: the last anchor of each. In `ops`, since the log must not be the judge of itself. Idempotent. */
export const anchorDeliveriesSchema = `
create schema if not exists ops;
create table if not exists ops.anchor_deliveries (
  address text primary key,
  anchor jsonb not null,
  delivered_at timestamptz not null default now()
);
`;

export interface AnchorAddressOptions {
  readonly pool: Pool;
  /** http(s); a user and a password in it are sent as such. */
  readonly url: string;
  readonly timeoutMs?: number;
  /** Tries within one round; the next round goes on with what is left. */
  readonly tries?: number;
}

/** An http(s) address that takes a POST per anchor and answers 2xx once it has kept it. The same anchor may come again: it has the same key. */
export class AnchorAddress implements AnchorTarget {
  readonly name: string;
  private readonly url: URL;
  private readonly authorization: Record<string, string>;

  constructor(private readonly options: AnchorAddressOptions) {
    const { username, password } = (this.url = new URL(options.url));
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.authorization = username ? { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } : {};
    this.url.username = this.url.password = '';
    this.name = `${this.url.origin}${this.url.pathname}`;
  }

  async last(): Promise<SignedAnchor | null> {
    const { rows } = await this.options.pool.query<{ anchor: unknown }>(
      'select anchor from ops.anchor_deliveries where address = $1::text',
      [this.name],
    );
    return parseAnchor(rows[0]?.anchor ?? null);
  }

  async keep(anchor: SignedAnchor): Promise<void> {
    await this.post(anchor);
    await this.options.pool.query(
      `insert into ops.anchor_deliveries (address, anchor) values ($1::text, $2::jsonb)
       on conflict (address) do update set anchor = excluded.anchor, delivered_at = now()`,
      [this.name, JSON.stringify(anchor)],
    );
  }

  private async post(anchor: SignedAnchor): Promise<void> {
    const { tries = 3 } = this.options;
    for (let attempt = 1; ; attempt += 1) {
      const failure = await this.attempt(anchor);
      if (failure === undefined) return;
      if (attempt >= tries) throw new Error(`${this.name} did not take anchor ${anchor.statement.number}: ${failure}.`);
      await sleep(250 * 2 ** attempt * (0.5 + Math.random() / 2));
    }
  }

  /** Why it was not taken. No redirect is followed: the operator named this address. */
  private async attempt(anchor: SignedAnchor): Promise<string | undefined> {
    try {
      const response = await fetch(this.url, {
        method: 'POST',
        headers: {
          ...this.authorization,
          'content-type': 'application/json',
          'idempotency-key': digestOfAnchor(anchor),
        },
        body: JSON.stringify(anchor),
        redirect: 'error',
        signal: AbortSignal.timeout(this.options.timeoutMs ?? 10_000),
      });
      await response.body?.cancel();
      return response.ok ? undefined : `it answered ${response.status}`;
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    }
  }
}
