import { type Config, type DataDir, type EmbeddedPostgres, type Logger, secretFile } from '@palimpsest/platform';
import {
  createMcpTools,
  createReadResultTool,
  createSqlTool,
  createStateTools,
  createToolRegistry,
  provisionSqlDatabase,
  salesSampleSql,
  type SqlTool,
  type ToolsConfig,
  type ToolRegistry,
} from '@palimpsest/tools';
import { randomBytes } from 'node:crypto';

export interface Tools {
  readonly registry: ToolRegistry;
  /** What a person should know of the SQL tool. */
  readonly sql: string;
  close(): Promise<void>;
}

/**
 * The operator's tools. The SQL tool reads the database that the operator names; with the embedded Postgres, and none named, a sample of
 * sales in a database of its own.
 */
export async function createTools(
  config: Config,
  { http, mcp: servers }: ToolsConfig,
  home: DataDir,
  postgres: EmbeddedPostgres | undefined,
  log: Logger,
): Promise<Tools> {
  const url = config.sqlDatabaseUrl ?? (postgres && (await sampleDatabase(home, postgres)));
  const sql: SqlTool | undefined = url === undefined ? undefined : await createSqlTool({ url });
  const { maxToolResultBytes, maxResultPageTokens: maxPageTokens } = config.limits;
  const mcp = createMcpTools(servers, {
    maxToolResultBytes,
    onChange: (server, state, why) =>
      log[state === 'connected' ? 'info' : 'warn']({ server, why }, `MCP server ${state}`),
  });
  const builtins = [createReadResultTool({ maxPageTokens }), ...createStateTools(), ...(sql ? [sql] : [])];
  return {
    registry: createToolRegistry({ builtins, http, mcp }, { maxToolResultBytes }),
    sql: config.sqlDatabaseUrl
      ? 'reads the database of PALIMPSEST_SQL_DATABASE_URL'
      : sql
        ? 'reads a sample of sales'
        : 'none: set PALIMPSEST_SQL_DATABASE_URL to have it',
    close: async () => {
      await mcp.close();
      await sql?.close();
    },
  };
}

async function sampleDatabase(home: DataDir, postgres: EmbeddedPostgres): Promise<string> {
  const password = secretFile(home.file('sales-reader-password'), () => randomBytes(24).toString('hex')).text;
  const { url } = await provisionSqlDatabase(postgres.adminUrl, {
    database: 'sales',
    role: 'sales_reader',
    password,
    setup: salesSampleSql(),
  });
  return url;
}
