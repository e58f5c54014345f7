import { randomBytes, randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Config } from './config';
import type { DataDir } from './data-dir';
import { secretFile } from './secret-file';

const keyBytes = 32;

/** Where an installation keeps its files: what a data directory is to whoever does not hold it. */
export type DataFiles = Pick<DataDir, 'path' | 'file'>;

export const dataFiles = (path: string): DataFiles => ({ path, file: (...names) => join(path, ...names) });

/** The file of the installation's keys. */
export function installationKeyFile({ masterKeyFile }: Pick<Config, 'masterKeyFile'>, dataDir: DataFiles): string {
  return masterKeyFile ?? dataDir.file('master-key');
}

/**
 * The keys that wrap all others: 32 bytes each, kept as base64, a line each, the newest first, in the file that the operator named, else in
 * `master-key` in the data directory, where the first start makes one. It is never made anew beside data that an older key sealed.
 */
export function loadInstallationKeys(
  config: Pick<Config, 'masterKeyFile'>,
  dataDir: DataFiles,
): readonly [Buffer, ...Buffer[]] {
  if (config.masterKeyFile !== undefined) {
    return decode(readGiven(config.masterKeyFile), `PALIMPSEST_MASTER_KEY_FILE (${config.masterKeyFile})`);
  }
  const path = dataDir.file('master-key');
  const hasData = ['postgres', 'postgres-location'].some((name) => existsSync(dataDir.file(name)));
  if (hasData && !existsSync(path)) {
    throw new Error(
      `${path} is missing, and without it nothing in ${dataDir.path} can be read. Put it back from your backup, or begin anew with another PALIMPSEST_DATA_DIR.`,
    );
  }
  return decode(secretFile(path, newInstallationKey).text, path);
}

/** The newest of them. */
export const loadInstallationKey = (config: Pick<Config, 'masterKeyFile'>, dataDir: DataFiles): Buffer =>
  loadInstallationKeys(config, dataDir)[0];

/** The keys of a file that holds nothing else. */
export function readInstallationKeys(path: string): readonly [Buffer, ...Buffer[]] {
  return decode(readFileSync(path, 'utf8').trim(), path);
}

const newInstallationKey = (): string => randomBytes(keyBytes).toString('base64');

/** Puts a key before those of a file: all of the file or nothing of it changes, also when the power fails. */
export function prependInstallationKey(path: string, key: Buffer): void {
  const draft = `${path}.${randomUUID()}`;
  const fd = openSync(draft, 'wx', 0o600);
  try {
    writeSync(fd, `${key.toString('base64')}\n${readFileSync(path, 'utf8').trim()}\n`);
    fsyncSync(fd);
    const { uid, gid } = statSync(path);
    // Whoever serves must still be able to read it, also where an administrator runs this.
    if (process.getuid?.() === 0) fchownSync(fd, uid, gid);
    renameSync(draft, path);
  } finally {
    closeSync(fd);
    rmSync(draft, { force: true });
  }
}

function readGiven(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Error(
      `PALIMPSEST_MASTER_KEY_FILE is ${path}, which cannot be read (${code}). Make one with: openssl rand -base64 32`,
      { cause: error },
    );
  }
}

function decode(text: string, where: string): readonly [Buffer, ...Buffer[]] {
  const lines = text.split('\n').map((line) => line.trim());
  const [first = '', ...older] = lines.filter((line) => line !== '');
  return [decodeKey(first, where), ...older.map((line) => decodeKey(line, where))];
}

function decodeKey(text: string, where: string): Buffer {
  const key = Buffer.from(text, 'base64');
  if (key.length === keyBytes && key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')) return key;
  throw new Error(
    `${where} does not hold a key: it must be ${keyBytes} bytes as base64 (openssl rand -base64 32 makes such a text), a line each.`,
  );
}
