import { createHash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { v7 } from 'uuid';
import type { Caller } from '../caller/caller';
import { ApiKeys } from './api-keys';

export interface NewApiKey {
  readonly keyId: string;
  readonly tenantId: string;
  /** Shown once: only its digest is stored. */
  readonly secret: string;
}

export interface ListedApiKey {
  readonly keyId: string;
  readonly tenantId: string;
  readonly tenantName: string;
  readonly roles: Caller['roles'];
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

const FIND = `
select tenant_id, actor, roles from ops.api_keys
where secret_sha256 = $1::bytea and revoked_at is null`;

/** The update changes nothing; it makes `returning` answer for a tenant that is already there. */
const NAME_TENANT = `
insert into ops.tenants (tenant_id, name) values ($1::uuid, $2::text)
on conflict (name) do update set name = excluded.name
returning tenant_id`;

const TENANT_EXISTS = `select 1 from ops.tenants where tenant_id = $1::uuid`;

const INSERT = `
insert into ops.api_keys (key_id, secret_sha256, tenant_id, actor, roles)
values ($1::uuid, $2::bytea, $3::uuid, $4::text, $5::text[])`;

const LIST = `
select key_id as "keyId", tenant_id as "tenantId", name as "tenantName", roles,
       k.created_at as "createdAt", revoked_at as "revokedAt"
from ops.api_keys k join ops.tenants using (tenant_id)
order by k.created_at, key_id`;

const REVOKE = `update ops.api_keys set revoked_at = now() where key_id = $1::uuid and revoked_at is null`;

const secretForm = /^plk_[A-Za-z0-9_-]{43}$/;
const tenantNameForm = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

export class PostgresApiKeys extends ApiKeys {
  /** Known callers only: a key that was made a moment ago is found at once. */
  private readonly known = new LRUCache<string, Caller>({ max: 1_000, ttl: 10_000 });

  constructor(private readonly pool: Pick<Pool, 'query'>) {
    super();
  }

  async find(secret: string): Promise<Caller | undefined> {
    if (!secretForm.test(secret)) return undefined;
    const digest = sha256(secret);
    const cached = this.known.get(digest.toString('hex'));
    if (cached) return cached;
    const { rows } = await this.pool.query<{ tenant_id: string; actor: string; roles: Caller['roles'] }>(FIND, [
      digest,
    ]);
    const [row] = rows;
    if (!row) return undefined;
    const caller: Caller = { tenantId: row.tenant_id, actor: row.actor, roles: row.roles };
    this.known.set(digest.toString('hex'), caller);
    return caller;
  }

  /** Makes a key. A tenant named for the first time is made with it; one given by its id must exist. The actor is the key's id. */
  async create(
    tenant: { readonly tenantName: string } | { readonly tenantId: string },
    roles: Caller['roles'],
  ): Promise<NewApiKey> {
    const tenantId = 'tenantId' in tenant ? await this.existing(tenant.tenantId) : await this.named(tenant.tenantName);
    const keyId = v7();
    const secret = `plk_${randomBytes(32).toString('base64url')}`;
    await this.pool.query(INSERT, [keyId, sha256(secret), tenantId, keyId, [...roles]]);
    return { keyId, tenantId, secret };
  }

  /** Oldest first. */
  async list(): Promise<readonly ListedApiKey[]> {
    return (await this.pool.query<ListedApiKey>(LIST)).rows;
  }

  /** False: there is no such key, or it was revoked before. */
  async revoke(keyId: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(REVOKE, [keyId]);
    this.known.clear();
    return rowCount === 1;
  }

  private async named(name: string): Promise<string> {
    if (!tenantNameForm.test(name) || name.trim() !== name)
      throw new Error('A tenant’s name has 1 to 200 characters, no control characters, and no space at its ends.');
    const { rows } = await this.pool.query<{ tenant_id: string }>(NAME_TENANT, [v7(), name]);
    return (rows[0] as { tenant_id: string }).tenant_id;
  }

  private async existing(tenantId: string): Promise<string> {
    const { rowCount } = await this.pool.query(TENANT_EXISTS, [tenantId]);
    if (rowCount === 0) throw new Error(`There is no tenant ${tenantId}. Name the tenant to make one.`);
    return tenantId;
  }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
