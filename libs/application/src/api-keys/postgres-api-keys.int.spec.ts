import { Pool } from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database';
import { PostgresApiKeys } from './postgres-api-keys';
import { apiKeysSchema } from './schema';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = new Pool({ connectionString: database.url });
  await pool.query(apiKeysSchema);
  await pool.query(apiKeysSchema);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe('API keys in Postgres', () => {
  it('finds the tenant, the actor and the roles of a key that was just made', async () => {
    const keys = new PostgresApiKeys(pool);
    const { secret, keyId, tenantId } = await keys.create({ tenantName: 'Acme' }, ['tenant', 'operator']);
    expect(secret).toMatch(/^plk_[\w-]{43}$/);
    expect(await keys.find(secret)).toEqual({ tenantId, actor: keyId, roles: ['tenant', 'operator'] });
  });

  it('gives one tenant’s keys one tenant, named or by id, and others another', async () => {
    const keys = new PostgresApiKeys(pool);
    const first = await keys.create({ tenantName: 'Globex' }, ['tenant']);
    const [again, byId, other] = await Promise.all([
      keys.create({ tenantName: 'Globex' }, ['tenant']),
      keys.create({ tenantId: first.tenantId }, ['tenant']),
      keys.create({ tenantName: 'Initech' }, ['tenant']),
    ]);
    expect([again.tenantId, byId.tenantId]).toEqual([first.tenantId, first.tenantId]);
    expect(other.tenantId).not.toBe(first.tenantId);
    expect(again.secret).not.toBe(first.secret);
  });

  it('stores no secret', async () => {
    const keys = new PostgresApiKeys(pool);
    const { secret } = await keys.create({ tenantName: 'Hooli' }, ['tenant']);
    const { rows } = await pool.query<{ row: string }>(`select api_keys::text as row from ops.api_keys`);
    const stored = rows.map(({ row }) => row).join();
    expect(stored).not.toContain(secret.slice(4));
    expect(stored).not.toContain(Buffer.from(secret).toString('hex'));
  });

  it('knows no other secrets: wrong, of another form, revoked', async () => {
    const keys = new PostgresApiKeys(pool);
    const { secret, keyId } = await keys.create({ tenantName: 'Umbrella' }, ['tenant']);
    expect(await keys.find(`plk_${'A'.repeat(43)}`)).toBeUndefined();
    expect(await keys.find(`${secret}\u0000`)).toBeUndefined();
    expect(await keys.find(secret)).toBeDefined();
    expect(await keys.revoke(keyId)).toBe(true);
    expect(await keys.find(secret)).toBeUndefined();
    expect(await keys.revoke(keyId)).toBe(false);
  });

  it('says what is wrong with a tenant', async () => {
    const keys = new PostgresApiKeys(pool);
    await expect(keys.create({ tenantName: ' x' }, ['tenant'])).rejects.toThrow('1 to 200 characters');
    await expect(keys.create({ tenantName: 'a\u0000' }, ['tenant'])).rejects.toThrow('no control characters');
    const missing = '0190a000-0000-7000-8000-00000000dead';
    await expect(keys.create({ tenantId: missing }, ['tenant'])).rejects.toThrow('There is no tenant');
    await expect(keys.create({ tenantName: 'Roles' }, [])).rejects.toThrow();
  });
});
