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
import { postgresBinaries, runAs, serviceUser, type PostgresBinaries, type ServiceUser } from './postgres-binaries';
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
  const data = join(folder, 'data');
  if (!existsSync(data)) initialise({ binaries, user, folder, password, notes: [] }, data);
  checkVersion(data, binaries);
  const notes = folder.startsWith(elsewhere)
    ? [`Postgres runs as "${user?.name}", to whom ${dataDir} is closed, so its data live in ${folder}. Back up both.`]
    : [];
  return { binaries, user, folder, password, notes };
}

/** Where the cluster of this data directory lives, be it made yet or not. */
export function postgresFolder(dataDir: string): string {
  const pointer = pointerIn(dataDir);
  return existsSync(pointer) ? pointedAt(pointer) : join(dataDir, 'postgres');
}

function chooseFolder(dataDir: string, user: ServiceUser | undefined): string {
  const pointer = pointerIn(dataDir);
  const usual = postgresFolder(dataDir);
  if (existsSync(pointer)) return usual;
  const isOld = existsSync(join(usual, 'data'));
  makeFolder(usual, user);
  if (user) openTo(dataDir, user);
  if (canReach(usual, user)) return usual;
  const name = user?.name ?? 'yours';
  if (isOld) {
    throw new Error(
      `Postgres (user "${name}") can no longer reach its data in ${usual}. Open the folders above it to that user (chmod o+x).`,
    );
  }
  rmSync(usual, { recursive: true, force: true });
  return folderElsewhere(dataDir, user, pointer);
}

function pointerIn(dataDir: string): string {
  return join(dataDir, 'postgres-location');
}

function pointedAt(pointer: string): string {
  const folder = readFileSync(pointer, 'utf8').trim();
  if (existsSync(folder)) return folder;
  throw new Error(
    `The database is missing: ${pointer} says that it lives in ${folder}. Put it back from your backup, or begin anew with another PALIMPSEST_DATA_DIR.`,
  );
}

function folderElsewhere(dataDir: string, user: ServiceUser | undefined, pointer: string): string {
  const folder = join(elsewhere, createHash('sha256').update(dataDir).digest('hex').slice(0, 12));
  if (existsSync(join(folder, 'data'))) {
    throw new Error(
      `${folder} holds the database of an older ${dataDir}, which is no longer here. Put that back, or move ${folder} away.`,
    );
  }
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 });
  makeFolder(folder, user);
  if (!canReach(folder, user)) {
    throw new Error(
      `Postgres (user "${user?.name}") can reach neither ${dataDir} nor ${folder}. Set PALIMPSEST_DATA_DIR or DATABASE_URL.`,
    );
  }
  // Last, as the pointer must never name a folder that was not made.
  writeFileSync(pointer, `${folder}\n`, { mode: 0o600 });
  return folder;
}

function makeFolder(path: string, user: ServiceUser | undefined): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (user) openTo(path, user);
}

/** The service user may pass through, and neither list nor change anything. All that it owns is the cluster itself. */
function openTo(path: string, user: ServiceUser): void {
  chownSync(path, process.getuid?.() ?? 0, user.gid);
  chmodSync(path, 0o710);
}

function canReach(folder: string, user: ServiceUser | undefined): boolean {
  return (
    spawnSync('/bin/sh', ['-c', 'test -x "$0"', folder], { cwd: '/', stdio: 'ignore', ...runAs(user) }).status === 0
  );
}

function initialise({ binaries, user, folder, password }: PostgresHome, data: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith('data.')) rmSync(join(folder, name), { recursive: true, force: true });
  }
  const draft = `${data}.${process.pid}`;
  const passwordFile = `${draft}.password`;
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600, flag: 'wx' });
  if (user) for (const path of [draft, passwordFile]) chownSync(path, user.uid, user.gid);
  const flags = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`];
  const made = spawnSync(binaries.initdb, ['-D', draft, ...flags, '--encoding=UTF8', '--locale=C'], {
    ...runAs(user),
    cwd: '/',
    encoding: 'utf8',
  });
  rmSync(passwordFile);
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
