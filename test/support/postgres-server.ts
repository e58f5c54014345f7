/**
 * The Postgres of a test run: a child process of Jest that holds one throw-away cluster. It prints `ready <url>` and lives as long as
 * its standard input is open, so it ends with Jest, however Jest ends.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { postgresBinaries, serviceUser } from '../../libs/platform/src/postgres-binaries';

const fsync = process.env['TEST_POSTGRES_FSYNC'] === 'on' ? 'on' : 'off';
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  shared_buffers: '64MB',
  fsync,
  full_page_writes: fsync,
  log_min_messages: 'fatal',
};

async function main(): Promise<void> {
  const user = serviceUser();
  const asUser = user ? { uid: user.uid, gid: user.gid } : {};
  const home = mkdtempSync(join(tmpdir(), 'palimpsest-test-postgres-'));
  chmodSync(home, 0o711);
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  const { initdb, postgres } = postgresBinaries(user, home);

  const data = mkdtempSync(join(home, 'data-'));
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(home, 'password');
  writeFileSync(passwordFile, password);
  if (user) [data, passwordFile].forEach((path) => chownSync(path, user.uid, user.gid));
  const flags = ['-D', data, '--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const made = spawnSync(initdb, [...flags, '--encoding=UTF8', '--locale=C', '--no-sync'], {
    ...asUser,
    cwd: '/',
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);

  const port = await freePort();
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // Detached, or Ctrl-C would reach it before the tests have let go of it.
  const server = spawn(postgres, ['-D', data, '-p', String(port), ...args], {
    ...asUser,
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<void>((done) => server.once('exit', () => done()));
  const stop = (): void => void server.kill('SIGQUIT');
  process.stdin.on('close', stop).resume();
  (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).forEach((signal) => process.on(signal, stop));

  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  await untilItAnswers(url, () => server.exitCode !== null);
  process.stdout.write(`ready ${url}\n`);
  await ended;
  remove();
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer().once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => done(port));
    });
  });
}

async function untilItAnswers(url: string, gone: () => boolean): Promise<void> {
  for (;;) {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (gone()) throw new Error('The Postgres of the tests ended while it started.', { cause: error });
      await new Promise((wait) => setTimeout(wait, 50));
    }
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
