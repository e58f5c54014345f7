import { migrations } from '@palimpsest/application';
import { eventLogSchema } from '@palimpsest/event-store-postgres';
import {
  type Config,
  createPool,
  type DataDir,
  type EmbeddedPostgres,
  type Logger,
  migrate,
  type Pool,
  startEmbeddedPostgres,
} from '@palimpsest/platform';
import { oneLogSchema } from './one-log';

export interface Database {
  readonly pool: Pool;
  /** Undefined where the operator named a database. */
  readonly embedded: EmbeddedPostgres | undefined;
  close(): Promise<void>;
}

/** The operator's Postgres, or the embedded one, with all schemas as this version wants them. */
export async function openDatabase(
  config: Config,
  home: DataDir,
  log: Logger,
  onLost: (error: Error) => void,
): Promise<Database> {
  if (config.databaseUrl !== undefined) return openNamedDatabase(config, log);
  const embedded = await startEmbeddedPostgres({ dataDir: home.path, log, onLost });
  try {
    const pool = await openPool(embedded.url, config, log);
    const close = async () => {
      await pool.end();
      await embedded.stop();
    };
    return { pool, embedded, close };
  } catch (error) {
    await embedded.stop().catch(() => undefined);
    throw error;
  }
}

/** The operator's Postgres, for processes that share it with others. */
export async function openNamedDatabase(config: Config, log: Logger): Promise<Database> {
  if (config.databaseUrl === undefined)
    throw new Error(
      'DATABASE_URL is not set. Processes side by side need a Postgres that all of them reach; the embedded one serves a single process.',
    );
  try {
    const pool = await openPool(config.databaseUrl, config, log);
    return { pool, embedded: undefined, close: () => pool.end() };
  } catch (error) {
    const reason = error instanceof Error ? error.message || (error as NodeJS.ErrnoException).code : String(error);
    throw new Error(`The Postgres of DATABASE_URL cannot be used: ${reason}.`, { cause: error });
  }
}

async function openPool(url: string, config: Config, log: Logger): Promise<Pool> {
  const pool = createPool({ url, applicationName: 'palimpsest', log, max: config.limits.maxDatabaseConnections });
  try {
    await migrate(pool, [
      { name: 'event-log/001-events', sql: eventLogSchema },
      ...migrations,
      { name: 'ops/007-log', sql: oneLogSchema },
    ]);
    return pool;
  } catch (error) {
    await pool.end().catch(() => undefined);
    throw error;
  }
}
