import { Client } from 'pg';
import { createTestDatabase } from './database';

it('gives each caller an empty database of its own on a real Postgres', async () => {
  const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const client = new Client({ connectionString: one.url });
  await client.connect();
  const { rows } = await client.query<{ name: string; version: string; encoding: string }>(
    `select current_database()::text as name, current_setting('server_version')::text as version,
            current_setting('server_encoding')::text as encoding`,
  );
  await client.end();
  expect(one.url).not.toBe(two.url);
  expect(one.url).toMatch(new RegExp(`/${rows[0]?.name}$`));
  expect(rows[0]?.encoding).toBe('UTF8');
  await Promise.all([one.drop(), two.drop()]);
});
