import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startChild, temporaryFolder, type Child } from '../../../test/support/child';
import { openDataDir } from './data-dir';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres';
import { createLogger } from './logger';
import { startOfProcess } from './process-identity';

const serve = `
  const { createLogger, openDataDir, startEmbeddedPostgres } = require('@palimpsest/platform');
  const dir = openDataDir(process.argv[1]);
  const log = createLogger('silent');
  startEmbeddedPostgres({ dataDir: dir.path, log, onLost: () => process.exit(3) }).then(
    (server) => {
      process.on('SIGINT', () => server.stop().then(() => process.exit(0)));
      console.log(JSON.stringify({ url: server.url, pid: server.pid() }));
    },
    (error) => { console.error(error); process.exit(1); },
  );`;

let folder: ReturnType<typeof temporaryFolder>;
let data: string;
let running: { stop(): Promise<void> }[];
let lost: Error[];
let lines: string[];

// One cluster for all: making one is most of the time, and a cluster that went through all this is the better test.
beforeAll(() => {
  folder = temporaryFolder();
  data = join(folder.path, 'data');
  openDataDir(data).release();
});

beforeEach(() => {
  [running, lost, lines] = [[], [], []];
});

afterEach(async () => {
  for (const server of running.reverse()) await server.stop();
});

afterAll(() => folder.remove());

async function start(dataDir = data): Promise<EmbeddedPostgres> {
  const log = createLogger('info', { write: (line) => void lines.push(line) });
  const server = await startEmbeddedPostgres({ dataDir, log, onLost: (error) => lost.push(error) });
  running.push(server);
  return server;
}

async function startInChild(): Promise<{ child: Child; url: string; pid: number }> {
  const child = startChild(serve, data);
  running.push({ stop: async () => void (await child.kill('SIGINT')) });
  return { child, ...(JSON.parse(await child.line()) as { url: string; pid: number }) };
}

async function query<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as Row[];
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await new Promise((wait) => setTimeout(wait, 20));
}

interface Inserting {
  /** Those that were acknowledged so far. */
  readonly rows: readonly number[];
  /** When the connection has broken. */
  readonly cut: Promise<void>;
}

/** Inserts one row after another until its connection breaks. Resolves once there are enough to lose, however slow the disk. */
async function insertUntilCut(url: string): Promise<Inserting> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const rows: number[] = [];
  const inserting = async () => {
    for (let n = 1; ; n += 1) {
      await client.query('insert into kept values ($1::int4)', [n]);
      rows.push(n);
    }
  };
  const cut = inserting().catch(() => undefined);
  await until(() => rows.length > 10);
  return { rows, cut };
}

async function expectKept(url: string, { rows: acknowledged, cut }: Inserting): Promise<void> {
  await cut;
  const rows = await query<{ n: number }>(url, 'select n from kept order by n');
  expect(acknowledged.length).toBeGreaterThan(10);
  expect(rows.map(({ n }) => n).slice(0, acknowledged.length)).toEqual(acknowledged);
}

describe('startEmbeddedPostgres', () => {
  it('makes a durable cluster on loopback that only the holder of its password may enter', async () => {
    const server = await start();
    const settings = await query(
      server.adminUrl,
      `select name, setting from pg_settings
      where name in ('fsync', 'listen_addresses', 'server_encoding', 'lc_collate', 'unix_socket_directories') order by name`,
    );
    expect(settings).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'listen_addresses', setting: '127.0.0.1' },
      { name: 'server_encoding', setting: 'UTF8' },
      { name: 'unix_socket_directories', setting: '' },
    ]);
    const [me] = await query(
      server.url,
      `select current_user::text as role, current_database()::text as database, rolsuper as super
      from pg_roles where rolname = current_user`,
    );
    expect(me).toEqual({ role: 'palimpsest', database: 'palimpsest', super: false });
    const guess = new URL(server.url);
    guess.password = 'guess';
    await expect(query(guess.href, 'select 1')).rejects.toThrow('password authentication failed');
    expect(statSync(join(server.folder, 'password')).mode & 0o777).toBe(0o600);
    expect(statSync(join(server.folder, 'data')).mode & 0o777).toBe(0o700);
    expect(statSync(data).mode & 0o007).toBe(0);
  });

  it('lets no other role into its own database', async () => {
    const server = await start();
    await query(server.adminUrl, `create role visitor login password 'v'`);
    const url = new URL(server.url);
    [url.username, url.password] = ['visitor', 'v'];
    await expect(query(url.href, 'select 1')).rejects.toThrow('permission denied for database "palimpsest"');
  });

  it('writes no statement and no error text to its log', async () => {
    const server = await start();
    await expect(query(server.url, `select 'canary'::int4`)).rejects.toThrow('canary');
    await expect(query(server.url, 'select canary')).rejects.toThrow('canary');
    expect(readFileSync(join(server.folder, 'postgres.log'), 'utf8')).not.toContain('canary');
  });

  it('keeps all that was acknowledged over a stop and a start', async () => {
    const first = await start();
    await query(first.url, 'drop table if exists kept; create table kept (n int4)');
    await first.stop();
    expect(startOfProcess(first.pid())).toBeUndefined();
    expect(await query((await start()).url, 'select n from kept')).toEqual([]);
    expect(lost).toEqual([]);
  });

  it('stops the server that a Node killed with kill -9 left behind, and starts with all acknowledged rows', async () => {
    const { child, url, pid } = await startInChild();
    await query(url, 'drop table if exists kept; create table kept (n int4)');
    const inserting = await insertUntilCut(url);
    await child.kill('SIGKILL');
    expect(startOfProcess(pid)).toBeDefined();
    const next = await start();
    expect(startOfProcess(pid)).toBeUndefined();
    expect(lines.join()).toContain('stopped a Postgres that an earlier process had left running');
    await expectKept(next.url, inserting);
  });

  it('starts again by itself, on the same port and with all acknowledged rows, where Postgres was killed with kill -9', async () => {
    const server = await start();
    const first = server.pid();
    await query(server.url, 'drop table if exists kept; create table kept (n int4)');
    const inserting = await insertUntilCut(server.url);
    process.kill(first, 'SIGKILL');
    await until(() => server.pid() !== first);
    await expectKept(server.url, inserting);
    expect(lines.join()).toContain('Postgres died; starting it again');
    expect(lost).toEqual([]);
  });

  it('says that Postgres is lost where it dies again and again, and the next start works', async () => {
    const server = await start();
    for (let pid = 0; lost.length === 0;) {
      await until(() => server.pid() !== pid || lost.length > 0);
      pid = server.pid();
      if (lost.length === 0) process.kill(pid, 'SIGKILL');
    }
    expect(lost[0]?.message).toMatch(/^Postgres dies again and again .*postgres\.log\.$/);
    expect(await query((await start()).url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('starts after both were killed with kill -9, straight away', async () => {
    const { child, url, pid } = await startInChild();
    await query(url, 'drop table if exists kept; create table kept (n int4)');
    const inserting = await insertUntilCut(url);
    process.kill(pid, 'SIGKILL');
    await child.kill('SIGKILL');
    await expectKept((await start()).url, inserting);
  });

  it('is not held up by a pid file whose pid belongs to another program by now, and leaves that alone', async () => {
    const first = await start();
    await first.stop();
    const pidFile = join(first.folder, 'data', 'postmaster.pid');
    writeFileSync(
      pidFile,
      [process.pid, join(first.folder, 'data'), 1, first.port, '', '127.0.0.1', '', 'ready'].join('\n'),
    );
    expect(await query((await start()).url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('begins anew where the first start was broken off in the middle of making the cluster', async () => {
    const first = await start();
    await first.stop();
    rmSync(join(first.folder, 'data'), { recursive: true });
    writeFileSync(join(first.folder, 'data.4711'), 'half');
    expect(await query((await start()).url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(existsSync(join(first.folder, 'data.4711'))).toBe(false);
  });

  it('refuses data of another major version in one sentence', async () => {
    const first = await start();
    await first.stop();
    writeFileSync(join(first.folder, 'data', 'PG_VERSION'), '17\n');
    await expect(start()).rejects.toThrow('was made by Postgres 17, and this Palimpsest brings Postgres 18.');
    writeFileSync(join(first.folder, 'data', 'PG_VERSION'), '18\n');
  });

  it('goes on when its terminal sends Ctrl-C to the whole group, until it is told to stop', async () => {
    const { child, pid } = await startInChild();
    const group = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[2];
    expect(Number(group)).toBe(pid);
    expect(await child.kill('SIGINT')).toBe(0);
    expect(startOfProcess(pid)).toBeUndefined();
  });

  const asRoot = process.getuid?.() === 0 ? it : it.failing;
  asRoot(
    'as root under a closed folder: puts the cluster where the service user can go, says so, and finds it again',
    async () => {
      const closed = temporaryFolder();
      chmodSync(closed.path, 0o700);
      const there = join(closed.path, 'data');
      mkdirSync(there);
      const server = await start(there);
      try {
        expect(server.folder).toMatch(/^\/var\/lib\/palimpsest\/[0-9a-f]{12}$/);
        expect(server.notes).toEqual([expect.stringContaining(`so its data live in ${server.folder}. Back up both.`)]);
        await query(server.url, 'create table kept (n int4)');
        await server.stop();
        expect(await query((await start(there)).url, 'select n from kept')).toEqual([]);
      } finally {
        for (const one of running.splice(0)) await one.stop();
        closed.remove();
        rmSync(server.folder, { recursive: true, force: true });
      }
    },
  );
});
