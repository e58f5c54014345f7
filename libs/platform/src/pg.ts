import { Pool, types, type PoolClient, type QueryResult } from 'pg';
import type { Logger } from './logger';

export type { Pool, PoolClient } from 'pg';

export interface PoolOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly log: Pick<Logger, 'warn'>;
  /** Connections at most. Default 10. */
  readonly max?: number;
  /** A statement that takes longer is ended by the server. Default 30 s. */
  readonly statementTimeoutMs?: number;
}

const int8 = 20;
const int8Array = 1016;

/** The one place where int8 is parsed: to bigint. `pg` alone gives text, so as not to lose digits. */
const getTypeParser = ((oid: number, format: 'text' | 'binary' = 'text') => {
  const usual = types.getTypeParser(oid, format) as (value: string) => unknown;
  if (format === 'binary') return usual;
  if (oid === int8) return BigInt;
  return oid === int8Array ? (value: string) => toBigints(usual(value)) : usual;
}) as typeof types.getTypeParser;

function toBigints(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toBigints);
  return value === null ? null : BigInt(value as string);
}

/**
 * A pool with timeouts on all that can hang: connecting (5 s), a statement, a lock (10 s), an idle transaction (30 s), and a server
 * that no longer answers. Connections that break while idle are logged and replaced.
 */
export function createPool(options: PoolOptions): Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  const pool = new Pool({
    connectionString: options.url,
    application_name: options.applicationName,
    max: options.max ?? 10,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + 5_000,
    lock_timeout: 10_000,
    idle_in_transaction_session_timeout: 30_000,
    types: { getTypeParser },
  });
  // Without a listener a connection that breaks would end the process: the pool's own covers those that are idle in it, and one that is
  // lent out and runs no statement at that moment has none. Whoever holds it learns by its next statement.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', (err) => {
    // At the end the server may be gone before the last connection has said goodbye.
    if (!pool.ending) options.log.warn({ err }, 'an idle connection to Postgres broke');
  });
  return pool;
}

/** Without these a driver's error says that the connection broke or never came about, and carries no code. */
const brokenConnection = /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client )/;

/** Whether Postgres cannot be reached, or is just starting or ending: nothing is wrong with what was asked, and later it may go through. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, message = '' } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === undefined) return brokenConnection.test(message);
  return /^(08...|57P0[1-5]|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)$/.test(
    code,
  );
}

/**
 * Runs `work` in one transaction. Thrown: rolled back, and thrown on. A connection whose state is unknown is closed, not reused.
 * When the commit itself fails the outcome is unknown to the caller.
 */
export async function withTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const lost = (error: Error): void => void (broken = error);
  client.on('error', lost);
  try {
    await client.query('begin');
    const result = await work(client);
    commandIs('COMMIT', await client.query('commit'));
    return result;
  } catch (error) {
    await client.query('rollback').catch(lost);
    throw error;
  } finally {
    client.off('error', lost);
    client.release(broken);
  }
}

/** `commit` in a transaction that has failed answers ROLLBACK, and no error. */
function commandIs(expected: string, { command }: QueryResult): void {
  if (command !== expected)
    throw new Error(`The transaction had failed before its commit: Postgres answered ${command}.`);
}
