import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The text of a file that only its owner may read (mode 0600); `make` gives it where the file is not there yet. Either the whole
 * file is on the disk or none of it, also after a power cut, and of two processes that make it both get the same text.
 */
export function secretFile(path: string, make: () => string): { readonly text: string; readonly made: boolean } {
  const known = readIfThere(path);
  if (known !== undefined) return { text: known, made: false };
  const draft = `${path}.${randomUUID()}`;
  const fd = openSync(draft, 'wx', 0o600);
  try {
    writeSync(fd, `${make()}\n`);
    fsyncSync(fd);
    linkSync(draft, path);
    syncFolder(dirname(path));
    return { text: readFileSync(path, 'utf8').trim(), made: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return { text: readFileSync(path, 'utf8').trim(), made: false };
  } finally {
    closeSync(fd);
    rmSync(draft, { force: true });
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
