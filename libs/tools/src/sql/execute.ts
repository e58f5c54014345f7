import type { Socket } from 'node:net';
import { Pool, type PoolClient, type QueryArrayConfig } from 'pg';
import type { SqlLimits } from './limits';
import type { Rows } from './result';

/** Why there are no rows. `message` is for the model: no path, no address. */
export class QueryFailed extends Error {
  override readonly name = 'QueryFailed';
}

const prefix = 'declare result no scroll cursor without hold for\n';

/**
 * Settings of a session, to which `discard all` returns. The parser that checks a statement knows standard strings only, so the server must
 * not know others. A client that goes away ends its statement: that is how a run is cancelled.
 */
const settings = (limits: SqlLimits): string =>
  Object.entries({
    standard_conforming_strings: 'on',
    search_path: 'public',
    default_transaction_read_only: 'on',
    statement_timeout: `${limits.statementMs}`,
    client_connection_check_interval: '250',
    client_min_messages: 'error',
    timezone: 'UTC',
    datestyle: 'ISO',
    intervalstyle: 'postgres',
  })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

export function readerPool(url: string, limits: SqlLimits): Pool {
  const pool = new Pool({
    connectionString: url,
    options: settings(limits),
    max: limits.connections,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 10_000,
    allowExitOnIdle: true,
  });
  // A connection that breaks has failed its query or left the pool already; without a listener it would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Runs a checked statement: read only, through a cursor (which takes nothing but SELECT), rolled back, nothing left in the session. */
export async function execute(pool: Pool, sql: string, limits: SqlLimits, signal: AbortSignal): Promise<Rows> {
  signal.throwIfAborted();
  const client = await pool.connect().catch(() => {
    throw new QueryFailed('The database cannot be reached. Try again later.');
  });
  const watch = new Watch(client, limits, signal);
  try {
    await client.query('begin transaction read only');
    await client.query({ text: prefix + sql, queryMode: 'extended' } as { text: string });
    const result = await client.query<(string | null)[]>({
      text: `fetch forward ${limits.rows + 1} from result`,
      rowMode: 'array',
      types: { getTypeParser: () => (text: string) => text },
    } as QueryArrayConfig);
    return { columns: result.fields.map((field) => field.name), rows: result.rows };
  } catch (error) {
    throw watch.reason ?? failureOf(error, limits);
  } finally {
    const clean = await reset(client, watch);
    watch.stop();
    client.release(!clean);
  }
}

async function reset(client: PoolClient, watch: Watch): Promise<boolean> {
  if (watch.reason) return false;
  try {
    await client.query('rollback');
    await client.query('discard all');
    return true;
  } catch {
    return false;
  }
}

/** Cuts the connection when the run is aborted, when the server sends too much, or when it does not stop by itself. */
class Watch {
  reason: Error | undefined;
  private received = 0;
  private readonly socket: Socket;
  private readonly deadline: NodeJS.Timeout;

  constructor(
    client: PoolClient,
    private readonly limits: SqlLimits,
    private readonly signal: AbortSignal,
  ) {
    this.socket = (client as unknown as { connection: { stream: Socket } }).connection.stream;
    this.socket.on('data', this.onData);
    this.signal.addEventListener('abort', this.onAbort);
    // Declaring and fetching are two statements.
    this.deadline = setTimeout(() => this.cut(tooLong(limits)), 2 * limits.statementMs + 1_000);
    if (signal.aborted) this.onAbort();
  }

  stop(): void {
    clearTimeout(this.deadline);
    this.socket.off('data', this.onData);
    this.signal.removeEventListener('abort', this.onAbort);
  }

  private cut(reason: Error): void {
    this.reason ??= reason;
    this.socket.destroy();
  }

  private readonly onAbort = (): void => this.cut(new QueryFailed('The query was cancelled.'));

  private readonly onData = (chunk: Buffer): void => {
    this.received += chunk.length;
    if (this.received <= this.limits.wireBytes) return;
    this.cut(
      new QueryFailed(
        `The result is larger than ${this.limits.wireBytes} bytes. Aggregate, filter, or select fewer columns.`,
      ),
    );
  };
}

const tooLong = (limits: SqlLimits): QueryFailed =>
  new QueryFailed(`The query was stopped because it ran longer than ${limits.statementMs} ms. Make it simpler.`);

/** Postgres' message where it speaks of the statement; of the server (disk, memory, files, connections) a sentence of our own. */
function failureOf(error: unknown, limits: SqlLimits): QueryFailed {
  const { code, message, hint, position } = error as {
    code?: string;
    message: string;
    hint?: string;
    position?: string;
  };
  if (code === '57014') return tooLong(limits);
  if (code === '53400')
    return new QueryFailed('The query needs more room on disk than it may have. Aggregate or filter earlier.');
  if (!code || !/^(0A|21|22|24|25|26|2[1-8]|34|42|44|54)/.test(code))
    return new QueryFailed('The database could not run the query. Try again later, or make it simpler.');
  const at = position === undefined ? NaN : Number(position) - prefix.length;
  return new QueryFailed([message, at > 0 ? ` (at character ${at})` : '', hint ? `. Hint: ${hint}` : ''].join(''));
}
