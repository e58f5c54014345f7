import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from './free-port';
import type { Logger } from './logger';
import { preparePostgres, type PostgresHome } from './postgres-home';
import { clearTheWay, launch, type Postmaster } from './postmaster';

export interface EmbeddedPostgres {
  /** The database `palimpsest`, as its owner, who is no superuser. */
  readonly url: string;
  /** The database `postgres`, as the superuser: for making other databases and roles. */
  readonly adminUrl: string;
  readonly port: number;
  /** The folder with the cluster. */
  readonly folder: string;
  /** Sentences that a person should read at the start. */
  readonly notes: readonly string[];
  /** Of the server as it runs now. */
  pid(): number;
  /** Ends all sessions, writes everything, and stops the server. Close the pools before. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** The data directory, held by this process (`openDataDir`). */
  readonly dataDir: string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Called once when the server died and does not come back: end this process, the next start recovers. */
  readonly onLost: (error: Error) => void;
  /** Settings of Postgres beyond our own. */
  readonly settings?: Readonly<Record<string, string>>;
}

const startTries = 30;
const restartsPerMinute = 3;

/**
 * Starts the Postgres that comes with Palimpsest on a free port of 127.0.0.1, and makes its cluster at the first start. Whatever an
 * earlier process left behind when it was killed is cleared away first. If the server dies it is started again on the same port: what
 * was acknowledged is there, and an append in flight has an unknown outcome, as with any lost connection.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { log, settings = {} } = options;
  const home = preparePostgres(options.dataDir);
  if ((await clearTheWay(home)) === 'stopped') log.warn('stopped a Postgres that an earlier process had left running');
  const server: Supervised = { home, settings, log, now: await start(home, settings), stopping: false };
  const { port } = server.now;
  const watching = keepAlive(server).catch((error: Error) => void (server.stopping || options.onLost(error)));
  const stop = async (): Promise<void> => {
    server.stopping = true;
    await server.now.stop();
    await watching;
  };
  const url = (user: string, database: string): string =>
    `postgres://${user}:${home.password}@127.0.0.1:${port}/${database}`;
  const adminUrl = url('postgres', 'postgres');
  try {
    await makeDatabase(adminUrl, home.password);
  } catch (error) {
    await stop();
    throw error;
  }
  const { folder, notes } = home;
  return { url: url('palimpsest', 'palimpsest'), adminUrl, port, folder, notes, pid: () => server.now.pid, stop };
}

interface Supervised extends Pick<EmbeddedPostgresOptions, 'log'> {
  readonly home: PostgresHome;
  readonly settings: Readonly<Record<string, string>>;
  now: Postmaster;
  stopping: boolean;
}

/** Ends when the server was told to stop; throws when it dies too often or cannot be started again. */
async function keepAlive(server: Supervised): Promise<void> {
  const { home, settings, log } = server;
  const deaths: number[] = [];
  for (;;) {
    const how = await server.now.ended;
    if (server.stopping) return;
    log.error({ how }, 'Postgres died; starting it again');
    deaths.push(performance.now());
    if (deaths.filter((at) => at > performance.now() - 60_000).length > restartsPerMinute) {
      throw new Error(`Postgres dies again and again (${how}); its log is ${join(home.folder, 'postgres.log')}.`);
    }
    await clearTheWay(home);
    server.now = await start(home, settings, server.now.port);
    // Told to stop in the meantime: the one that was told is dead, and this one knows nothing of it.
    if (server.stopping) await server.now.stop();
    else log.info({ pid: server.now.pid }, 'Postgres is back');
  }
}

/** The port may be taken between choosing and using it, and a server that was just killed may still be on its way out: try again. */
async function start(
  home: PostgresHome,
  settings: Readonly<Record<string, string>>,
  port?: number,
): Promise<Postmaster> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await launch(home, port ?? (await freePort()), settings);
    } catch (error) {
      const passes = /already exists|still in use|could not bind|Address already in use/i.test(
        (error as Error).message,
      );
      if (!passes || tries === startTries) throw error;
      await wait(500);
      await clearTheWay(home);
    }
  }
}

/** The role that Palimpsest works with owns one database, and nobody else may enter it. */
async function makeDatabase(adminUrl: string, password: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ role: boolean; database: boolean }>(`
      select exists (select from pg_roles where rolname = 'palimpsest') as role,
             exists (select from pg_database where datname = 'palimpsest') as database`);
    if (!rows[0]?.role) await client.query('create role palimpsest login');
    await client.query(`alter role palimpsest password ${client.escapeLiteral(password)}`);
    if (!rows[0]?.database) await client.query('create database palimpsest owner palimpsest');
    await client.query('revoke connect, temporary on database palimpsest, postgres, template1 from public');
  } finally {
    await client.end();
  }
}
