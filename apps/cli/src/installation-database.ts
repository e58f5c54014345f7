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
  type PoolClient,
  runningPostgresUrl,
  startEmbeddedPostgres,
} from '@palimpsest/platform';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** How long an installation that is just starting or stopping is waited for. Milliseconds. */
const PATIENCE_MS = 30_000;
/** 'Pali' and 'gate', as two int4: shared by commands that found this Postgres serving, and the serving command's own once it is to end. */
const GATE = '1348562025::int4, 1734440037::int4';

/** On a Postgres that another process runs. `gate`: the connection that holds the gate open. */
interface Guest {
  readonly pool: Pool;
  readonly gate: PoolClient;
}

/**
 * Works on the database of the installation that this configuration names, be it running or not: the operator's own; else the embedded one
 * that a running process serves; else the embedded one, started for the moment and stopped again.
 */
export async function withInstallationDatabase<T>(config: Config, work: (pool: Pool) => Promise<T>): Promise<T> {
  const log = createLogger('error');
  if (config.databaseUrl !== undefined) {
    const where = 'the database of DATABASE_URL';
    return onPool({ pool: await connected(config.databaseUrl, log, where) }, where, work);
  }
  const { dataDir } = config;
  if (!existsSync(join(dataDir, 'lock'))) throw noInstallation(dataDir);
  const found = await takeOrFind(dataDir, log);
  if ('pool' in found) return onPool(found, `the database in ${dataDir}`, work);
  try {
    return await onStoppedInstallation(found, log, work);
  } finally {
    found.release();
  }
}

/** The data directory, where it could be taken; where another process holds it, a pool that is connected to the Postgres that this one runs. */
async function takeOrFind(dataDir: string, log: Logger): Promise<DataDir | Guest> {
  for (const end = performance.now() + PATIENCE_MS; ; await wait(100)) {
    try {
      return openDataDir(dataDir);
    } catch (error) {
      if (!(error instanceof AlreadyRunningError)) throw error;
      const url = runningPostgresUrl(dataDir);
      const guest = url === undefined ? undefined : await enter(url, log, `the database in ${dataDir}`).catch(stopping);
      if (guest) return guest;
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
  const where = `the database in ${home.path}`;
  // Lost in the midst of it: the statement that runs fails by itself, and says so.
  const postgres = await startEmbeddedPostgres({ dataDir: home.path, log, onLost: () => undefined });
  const pool = await connected(postgres.url, log, where).catch(async (error: unknown) => {
    await postgres.stop();
    throw error;
  });
  try {
    await refuseIfEmpty(pool, where);
    return await work(pool);
  } finally {
    const gate = await closeGate(pool).catch(() => undefined);
    await postgres.stop();
    gate?.release(true);
    await pool.end();
  }
}

/** Whoever runs it is about to stop it: then the data directory can be taken in a moment. */
function stopping(error: unknown): undefined {
  if (!isDatabaseAway((error as Error).cause)) throw error;
}

/** Another command may have found this Postgres while it serves: it ends its own work before the server goes, and none comes in any more. */
async function closeGate(pool: Pool): Promise<PoolClient> {
  const client = await pool.connect();
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await wait(50)) {
    const { rows } = await client.query<{ alone: boolean }>(`select pg_try_advisory_lock(${GATE}) as alone`);
    if (rows[0]?.alone) break;
  }
  return client;
}

/** For a Postgres that another process runs: if that is a command, it waits until the gate is left. Undefined: it is about to end. */
async function enter(url: string, log: Logger, where: string): Promise<Guest | undefined> {
  const pool = await connected(url, log, where);
  let gate: PoolClient | undefined;
  try {
    gate = await pool.connect();
    const { rows } = await gate.query<{ open: boolean }>(`select pg_try_advisory_lock_shared(${GATE}) as open`);
    if (rows[0]?.open) return { pool, gate };
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
  }
  gate?.release(true);
  await pool.end();
  return undefined;
}

async function onPool<T>(
  { pool, gate }: Partial<Guest> & { readonly pool: Pool },
  where: string,
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  try {
    await refuseIfEmpty(pool, where);
    return await work(pool);
  } finally {
    gate?.release(true);
    await pool.end();
  }
}

async function connected(url: string, log: Logger, where: string): Promise<Pool> {
  const pool = createPool({ url, applicationName: 'palimpsest-cli', log, max: 3 });
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
