import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

export interface TestDatabase {
  /** Connects as a superuser. */
  readonly url: string;
  /** Removes the database, closing whatever is still connected to it. */
  drop(): Promise<void>;
}

/** A new, empty database on the real Postgres of this test run. Each caller has its own, so tests never meet. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const admin = process.env['TEST_DATABASE_URL'];
  if (!admin)
    throw new Error('TEST_DATABASE_URL is not set: run this test in the projects int or e2e, which start a Postgres.');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await run(admin, `create database ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(admin, `drop database if exists ${name} with (force)`) };
}

async function run(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
