/** Idempotent. A secret is 256 random bits, so its plain SHA-256 gives nothing away. */
export const apiKeysSchema = `
create schema if not exists ops;
create table if not exists ops.tenants (
  tenant_id uuid primary key,
  name text not null unique,
  created_at timestamptz not null default now()
);
create table if not exists ops.api_keys (
  key_id uuid primary key,
  secret_sha256 bytea not null unique check (length(secret_sha256) = 32),
  tenant_id uuid not null references ops.tenants (tenant_id),
  actor text not null,
  roles text[] not null check (cardinality(roles) > 0 and roles <@ array['tenant', 'operator']),
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
`;
