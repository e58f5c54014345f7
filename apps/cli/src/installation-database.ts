import {
  AlreadyRunningError,
  type Config,
  createLogger,
  createPool,
  type DataDir,
  isDatabaseAway,
  type Logger,
  openDataDir,
  type Pool,
  runningPostgresUrl,
  startEmbeddedPostgres,
} from '@palimpsest/platform';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** How long an installation that is just starting or stopping is waited for. Milliseconds. */
const PATIENCE_MS = 30_000;
const APPLICATION = 'palimpsest-cli';

/**
 * Works on the database of the installation that this configuration names, be it running or not: the operator's own; else the embedded one
 * that a running process serves; else the embedded one, started for the moment and stopped again.
 */
export async function withInstallationDatabase<T>(config: Config, work: (pool: Pool) => Promise<T>): Promise<T> {
  const log = createLogger('error');
  if (config.databaseUrl !== undefined)
    return onDatabase(config.databaseUrl, log, 'the database of DATABASE_URL', work);
  const { dataDir } = config;
  if (!existsSync(join(dataDir, 'lock'))) throw noInstallation(dataDir);
  const found = await takeOrFind(dataDir, log);
  if ('pool' in found) return onPool(found.pool, `the database in ${dataDir}`, work);
  try {
    return await onStoppedInstallation(found, log, work);
  } finally {
    found.release();
  }
}

/** The data directory, where it could be taken; where another process holds it, a pool that is connected to the Postgres that this one runs. */
async function takeOrFind(dataDir: string, log: Logger): Promise<DataDir | { readonly pool: Pool }> {
  for (const end = performance.now() + PATIENCE_MS; ; await wait(100)) {
    try {
      return openDataDir(dataDir);
    } catch (error) {
      if (!(error instanceof AlreadyRunningError)) throw error;
      const url = runningPostgresUrl(dataDir);
      const pool =
        url === undefined ? undefined : await connected(url, log, `the database in ${dataDir}`).catch(stopping);
      if (pool) return { pool };
      if (performance.now() > end)
        throw new Error(
          `The installation on ${dataDir} runs (pid ${error.pid}), but its Postgres does not serve here. Set DATABASE_URL if it uses another one, or try again.`,
          { cause: error },
        );
    }
  }
}

async function onStoppedInstallation<T>(home: DataDir, log: Logger, work: (pool: Pool) => Promise<T>): Promise<T> {
  const hasData = ['postgres', 'postgres-location'].some((name) => existsSync(home.file(name)));
  if (!hasData) throw noInstallation(home.path);
  // Lost in the midst of it: the statement that runs fails by itself, and says so.
  const postgres = await startEmbeddedPostgres({ dataDir: home.path, log, onLost: () => undefined });
  try {
    return await onDatabase(postgres.url, log, `the database in ${home.path}`, (pool) =>
      work(pool).finally(() => untilAlone(pool).catch(() => undefined)),
    );
  } finally {
    await postgres.stop();
  }
}

/** Whoever runs it is about to stop it: then the data directory can be taken in a moment. */
function stopping(error: unknown): undefined {
  if (!isDatabaseAway((error as Error).cause)) throw error;
}

/** Another command may have found this Postgres while it serves: it ends its own work before the server goes. */
async function untilAlone(pool: Pool): Promise<void> {
  const others = `select count(*)::int as count from pg_stat_activity where application_name = $1::text and pid <> pg_backend_pid()`;
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await wait(50)) {
    const { rows } = await pool.query<{ count: number }>(others, [APPLICATION]);
    // This pool has one connection of its own at most besides the one that asks.
    if ((rows[0]?.count ?? 0) <= pool.totalCount - 1) return;
  }
}

async function onDatabase<T>(url: string, log: Logger, where: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  return onPool(await connected(url, log, where), where, work);
}

async function onPool<T>(pool: Pool, where: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  try {
    await refuseIfEmpty(pool, where);
    return await work(pool);
  } finally {
    await pool.end();
  }
}

async function connected(url: string, log: Logger, where: string): Promise<Pool> {
  const pool = createPool({ url, applicationName: APPLICATION, log, max: 2 });
  try {
    (await pool.connect()).release();
    return pool;
  } catch (error) {
    await pool.end();
    const { message, code } = error as NodeJS.ErrnoException;
    throw new Error(`There is no connection to ${where}: ${message || code}.`, { cause: error });
  }
}

/** An installation's first start makes its first key, and only where there is none: a key made before it would keep it from doing so. */
async function refuseIfEmpty(pool: Pool, where: string): Promise<void> {
  const { rows } = await pool.query<{ known: boolean }>(`select to_regclass('ops.api_keys') is not null as known`);
  const started = rows[0]?.known && (await pool.query('select from ops.api_keys limit 1')).rowCount === 1;
  if (!started) throw noInstallation(where);
}

function noInstallation(where: string): Error {
  return new Error(
    `There is no installation in ${where} yet. Start it once with "npm start"; for one that lives elsewhere set PALIMPSEST_DATA_DIR or DATABASE_URL.`,
  );
}
