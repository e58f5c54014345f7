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
  const embedded =
    config.databaseUrl === undefined ? await startEmbeddedPostgres({ dataDir: home.path, log, onLost }) : undefined;
  const url = config.databaseUrl ?? embedded?.url ?? '';
  const pool = createPool({ url, applicationName: 'palimpsest', log, max: config.limits.maxDatabaseConnections });
  const close = async () => {
    await pool.end();
    await embedded?.stop();
  };
  try {
    await migrate(pool, [{ name: 'event-log/001-events', sql: eventLogSchema }, ...migrations]);
    return { pool, embedded, close };
  } catch (error) {
    await close().catch(() => undefined);
    if (embedded) throw error;
    const reason = error instanceof Error ? error.message || (error as NodeJS.ErrnoException).code : String(error);
    throw new Error(`The Postgres of DATABASE_URL cannot be used: ${reason}.`, { cause: error });
  }
}
