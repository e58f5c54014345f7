import type { Tool, ToolResult } from '../port';
import { refusalOf } from './check';
import { execute, QueryFailed, readerPool } from './execute';
import { defaultSqlLimits, type SqlLimits } from './limits';
import { parseSql } from './parser';
import { renderRows } from './result';
import { describeSchema, readableOf, readSchema, type Schema } from './schema';

export interface SqlTool extends Tool {
  /** Ends the connections; runs that are under way fail. */
  close(): Promise<void>;
}

/**
 * The built-in SQL tool on the database behind `url`, whose role should be one that `provisionSqlDatabase` made: the check of a statement
 * and the rights of the role each hold on their own. The schema is read once, here; a table that comes later is known after a restart.
 * Rejects where the database cannot be reached.
 */
export async function createSqlTool(options: { url: string; limits?: Partial<SqlLimits> }): Promise<SqlTool> {
  const limits = { ...defaultSqlLimits, ...options.limits };
  const pool = readerPool(options.url, limits);
  const schema = await readSchemaOf(pool);
  const readable = readableOf(schema);

  const answer = async (query: string, signal: AbortSignal): Promise<string> => {
    if (query.length > limits.statementLength)
      throw new QueryFailed(
        `The statement has ${query.length} characters; at most ${limits.statementLength} are allowed.`,
      );
    // The parser and the server would stop reading at a NUL, and could differ in what they make of half a surrogate pair.
    if (/\0|\p{Surrogate}/u.test(query)) throw new QueryFailed('The statement holds a NUL or half a surrogate pair.');
    const parsed = await parseSql(query);
    if (!parsed.ok) throw new QueryFailed(parsed.message);
    const refusal = refusalOf(parsed.statements, readable);
    if (refusal !== null) throw new QueryFailed(refusal);
    return renderRows(await execute(pool, query, limits, signal), limits);
  };

  return {
    definition: {
      type: 'builtin',
      name: 'sql',
      description: describe(schema, limits),
      inputSchema: {
        type: 'object',
        properties: { query: { type: 'string', description: 'One SELECT statement.' } },
        required: ['query'],
        additionalProperties: false,
      },
      effect: 'read',
      approval: false,
    },
    timeoutMs: 3 * limits.statementMs,
    async run(run): Promise<ToolResult> {
      const { query } = JSON.parse(run.arguments) as { query: string };
      try {
        return { text: await answer(query, run.signal), isError: false };
      } catch (error) {
        if (error instanceof QueryFailed) return { text: error.message, isError: true };
        throw error;
      }
    },
    close: () => pool.end(),
  };
}

async function readSchemaOf(pool: ReturnType<typeof readerPool>): Promise<Schema> {
  const client = await pool.connect();
  try {
    return await readSchema(client);
  } finally {
    client.release();
  }
}

const describe = (schema: Schema, limits: SqlLimits): string =>
  `Runs one read-only PostgreSQL SELECT statement and gives the rows as CSV with a header line, at most ${limits.rows} rows. ` +
  `Aggregate in SQL rather than by hand. The tables are:\n\n${describeSchema(schema)}`;
