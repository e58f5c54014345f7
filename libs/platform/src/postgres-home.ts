import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { postgresBinaries, serviceUser, type PostgresBinaries, type ServiceUser } from './postgres-binaries';
import { secretFile } from './secret-file';

/** Where the embedded Postgres lives, and what it runs with. */
export interface PostgresHome {
  readonly binaries: PostgresBinaries;
  readonly user: ServiceUser | undefined;
  /** Holds `data`, `password` and `postgres.log`. */
  readonly folder: string;
  readonly password: string;
  /** Sentences that a person should read at the start. */
  readonly notes: readonly string[];
}

/** As root, where the data directory lies under a folder that is closed to the service user. */
const elsewhere = '/var/lib/palimpsest';

/**
 * Finds or makes the cluster that belongs to this data directory. The first start makes it under another name and renames it when it
 * is whole, so that one broken off leaves nothing that looks like a cluster.
 */
export function preparePostgres(dataDir: string): PostgresHome {
  const user = serviceUser();
  const folder = chooseFolder(dataDir, user);
  const binaries = postgresBinaries(user, folder);
  const { text: password } = secretFile(join(folder, 'password'), () => randomBytes(24).toString('hex'));
  if (user) chownSync(join(folder, 'password'), user.uid, user.gid);
  const data = join(folder, 'data');
  if (!existsSync(data)) initialise(data, folder, binaries, user);
  checkVersion(data, binaries);
  const notes = folder.startsWith(elsewhere)
    ? [`Postgres runs as "${user?.name}", to whom ${dataDir} is closed, so its data live in ${folder}. Back up both.`]
    : [];
  return { binaries, user, folder, password, notes };
}

function chooseFolder(dataDir: string, user: ServiceUser | undefined): string {
  const pointer = join(dataDir, 'postgres-location');
  if (existsSync(pointer)) {
    const folder = readFileSync(pointer, 'utf8').trim();
    if (existsSync(folder)) return folder;
    throw new Error(
      `The database is missing: ${pointer} says that it lives in ${folder}. Put it back from your backup, or begin anew with another PALIMPSEST_DATA_DIR.`,
    );
  }
  const usual = join(dataDir, 'postgres');
  const isOld = existsSync(join(usual, 'data'));
  makeFolder(usual, user);
  if (user) openTo(dataDir, user);
  if (canWrite(usual, user)) return usual;
  if (isOld || !user) {
    throw new Error(
      `Postgres (user "${user?.name ?? 'yours'}") can no longer reach its data in ${usual}. Open the folders above it to that user (chmod o+x).`,
    );
  }
  rmSync(usual, { recursive: true, force: true });
  const folder = join(elsewhere, createHash('sha256').update(dataDir).digest('hex').slice(0, 12));
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 });
  if (existsSync(join(folder, 'data'))) {
    throw new Error(
      `${folder} holds the database of an older ${dataDir}, which is no longer here. Put that folder back, or move ${folder} away.`,
    );
  }
  makeFolder(folder, user);
  if (!canWrite(folder, user))
    throw new Error(
      `Postgres (user "${user.name}") can reach neither ${usual} nor ${folder}. Set PALIMPSEST_DATA_DIR or DATABASE_URL.`,
    );
  writeFileSync(join(dataDir, 'postgres-location'), `${folder}\n`, { mode: 0o600 });
  // Deliberately last, as the pointer must never name a folder that was not made.
  return folder;
}

function makeFolder(path: string, user: ServiceUser | undefined): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (user) chownSync(path, user.uid, user.gid);
}

/** The service user may pass through the data directory, and see nothing in it. */
function openTo(dataDir: string, user: ServiceUser): void {
  chownSync(dataDir, process.getuid?.() ?? 0, user.gid);
  chmodSync(dataDir, 0o710);
}

function canWrite(folder: string, user: ServiceUser | undefined): boolean {
  const asUser = user ? { uid: user.uid, gid: user.gid } : {};
  return spawnSync('/bin/sh', ['-c', 'test -w "$0"', folder], { cwd: '/', stdio: 'ignore', ...asUser }).status === 0;
}

function initialise(data: string, folder: string, binaries: PostgresBinaries, user: ServiceUser | undefined): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith('data.')) rmSync(join(folder, name), { recursive: true, force: true });
  }
  const draft = `${data}.${process.pid}`;
  const asUser = user ? { uid: user.uid, gid: user.gid } : {};
  const flags = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${join(folder, 'password')}`];
  const made = spawnSync(binaries.initdb, ['-D', draft, ...flags, '--encoding=UTF8', '--locale=C'], {
    ...asUser,
    cwd: '/',
    encoding: 'utf8',
  });
  if (made.status !== 0) {
    const reason = made.error?.message ?? (made.stderr.trim() || `initdb ended with ${made.signal ?? made.status}`);
    throw new Error(`The database could not be made in ${folder}: ${reason}`);
  }
  renameSync(draft, data);
}

function checkVersion(data: string, { majorVersion }: PostgresBinaries): void {
  const made = readFileSync(join(data, 'PG_VERSION'), 'utf8').trim();
  if (made === majorVersion) return;
  throw new Error(
    `${data} was made by Postgres ${made}, and this Palimpsest brings Postgres ${majorVersion}. Go back to the version that made it, or move the data with pg_upgrade.`,
  );
}
