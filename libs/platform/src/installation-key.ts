import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Config } from './config';
import type { DataDir } from './data-dir';
import { secretFile } from './secret-file';

const keyBytes = 32;

/**
 * The key that wraps all others: 32 bytes, kept as base64 in the file that the operator named, else in `master-key` in the data
 * directory, where the first start makes it. It is never made anew beside data that an older key sealed.
 */
export function loadInstallationKey(config: Pick<Config, 'masterKeyFile'>, dataDir: DataDir): Buffer {
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
  return decode(secretFile(path, () => randomBytes(keyBytes).toString('base64')).text, path);
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

function decode(text: string, where: string): Buffer {
  const key = Buffer.from(text, 'base64');
  if (key.length === keyBytes && key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '')) return key;
  throw new Error(
    `${where} does not hold a key: it must be ${keyBytes} bytes as base64 (openssl rand -base64 32 makes such a text).`,
  );
}
