import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { createTestDatabase } from '../../../test/support/database';
import {
  createSqlTool,
  provisionSqlDatabase,
  salesSampleSql,
  type SqlDatabase,
  type SqlLimits,
  type SqlTool,
  type ToolResult,
} from '../src';

export interface SqlTestDatabase {
  /** Superuser's, of an empty database beside the tool's. */
  readonly adminUrl: string;
  readonly admin: Client;
  readonly wanted: SqlDatabase;
  /** The role's, of the tool's database. */
  readonly url: string;
  readonly tool: SqlTool;
  run(query: string, on?: SqlTool, signal?: AbortSignal): Promise<ToolResult>;
  withTool(limits: Partial<SqlLimits>, work: (tool: SqlTool) => Promise<void>): Promise<void>;
  /** The role's URL, but of another database. */
  urlIn(database: string): string;
  close(): Promise<void>;
}

/** The SQL tool on a provisioned database with the sales sample, on the real Postgres of this test run. */
export async function sqlTestDatabase(): Promise<SqlTestDatabase> {
  const suffix = randomBytes(6).toString('hex');
  const wanted = {
    database: `sql_tool_${suffix}`,
    role: `sql_reader_${suffix}`,
    password: 'p@:/ 1',
    setup: salesSampleSql(),
  };
  const home = await createTestDatabase();
  const admin = new Client({ connectionString: home.url });
  await admin.connect();
  const { url } = await provisionSqlDatabase(home.url, wanted);
  const tool = await createSqlTool({ url });
  return {
    adminUrl: home.url,
    admin,
    wanted,
    url,
    tool,
    run: (query, on = tool, signal = new AbortController().signal) =>
      on.run({
        toolCallId: 'call',
        runId: 'run',
        tenantId: 'tenant',
        conversationId: 'conversation',
        arguments: JSON.stringify({ query }),
        results: { inputCap: 1000, folded: () => Promise.resolve(undefined) },
        signal,
      }),
    async withTool(limits, work) {
      const limited = await createSqlTool({ url, limits });
      await work(limited).finally(() => limited.close());
    },
    urlIn: (database) => Object.assign(new URL(url), { pathname: `/${database}` }).href,
    async close() {
      await tool.close();
      await admin.query(`drop database ${wanted.database} with (force)`);
      await admin.query(`drop owned by ${wanted.role}`);
      await admin.query(`drop role ${wanted.role}`);
      await admin.end();
      await home.drop();
    },
  };
}

export async function connected<T>(to: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: to });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
