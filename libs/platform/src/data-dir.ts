import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lockData } from './data-lock';

/** The folder where everything lives that must outlive the process, held by this process alone. */
export interface DataDir {
  /** Absolute. */
  readonly path: string;
  /** The path of a file or folder in it. */
  file(...names: string[]): string;
  /** Tells a second start where this one serves. */
  announce(url: string): void;
  /** The last thing to do: another process may have the data from here on. */
  release(): void;
}

/**
 * Makes the folder if it is missing (mode 0700) and takes it for this process.
 *
 * @throws AlreadyRunningError, or an error whose message says what is wrong with the folder.
 */
export function openDataDir(path: string): DataDir {
  makeFolder(path);
  const lock = lockData(path);
  return {
    path,
    file: (...names) => join(path, ...names),
    announce: (url) => lock.announce(url),
    release: () => lock.release(),
  };
}

function makeFolder(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) throw new Error('it is a file');
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const inside = readdirSync(path).filter((name) => name !== 'lost+found');
    if (existsSync(join(path, 'lock'))) return;
    if (inside.length > 0) throw new Error(`it holds other things (${inside.slice(0, 3).join(', ')})`);
    // Only now is it known to be ours to close.
    chmodSync(path, 0o700);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The data cannot live in ${path}: ${reason}. Set PALIMPSEST_DATA_DIR to a folder that is empty or not there yet, and that you may write to.`,
      { cause: error },
    );
  }
}
