import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { postgresFolder } from './postgres-home';
import { servingPort } from './postmaster';

/**
 * The database `palimpsest` of the embedded Postgres that another process runs on this data directory, for a tool that works beside it.
 * Undefined: it does not serve at this moment; it may be starting or stopping.
 */
export function runningPostgresUrl(dataDir: string): string | undefined {
  const folder = postgresFolder(dataDir);
  const port = servingPort(join(folder, 'data'));
  if (port === undefined) return undefined;
  const password = readFileSync(join(folder, 'password'), 'utf8').trim();
  return `postgres://palimpsest:${password}@127.0.0.1:${port}/palimpsest`;
}

/** Removes a data directory with all that belongs to it, wherever its cluster had to go. Only when nobody works on it any more. */
export function removeData(dataDir: string): void {
  rmSync(postgresFolder(dataDir), { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}
