import { randomUUID } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { startOfProcess } from './process-identity';

/** Somebody else works on this data. */
export class AlreadyRunningError extends Error {
  override readonly name = 'AlreadyRunningError';
  constructor(
    readonly dataDir: string,
    readonly pid: number,
    readonly url: string | undefined,
    where: string,
  ) {
    const at = url ? `at ${url} ` : '';
    super(`Palimpsest is already running on the data in ${dataDir} ${at}(pid ${pid}${where}). Nothing was started.`);
  }
}

export interface DataLock {
  /** Says to a second start where this one is found. */
  announce(url: string): void;
  /** Throws where somebody else holds the data by now. */
  release(): void;
}

interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly start: string | undefined;
  readonly host: string;
  readonly url?: string;
  readonly released?: true;
}

const heartbeatMs = 5_000;
/** For holders on another host (a container that was replaced), whose processes cannot be seen from here. */
const silentMs = 20_000;

/**
 * Takes the data directory for this process. The lock is a folder of numbered files, of which the highest counts: a file is made with
 * its content by link(2), which one of two takers wins, and none is ever taken back, so that a taker who looked a while ago cannot
 * take away a newer lock. A holder that died (also by kill -9) is known by its pid and the instant at which that process began.
 *
 * @throws AlreadyRunningError
 */
export function lockData(dataDir: string): DataLock {
  const folder = join(dataDir, 'lock');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const me: Holder = { id: randomUUID(), pid: process.pid, start: startOfProcess(process.pid), host: hostname() };
  for (;;) {
    const last = highest(folder);
    if (last > 0) refuseIfHeld(dataDir, folder, last);
    const mine = last + 1;
    if (!create(folder, mine, me)) continue;
    if (highest(folder) === mine) return held(folder, mine, me);
    rmSync(file(folder, mine), { force: true });
  }
}

function held(folder: string, number: number, me: Holder): DataLock {
  const path = file(folder, number);
  // The one just below stays: somebody may be looking for the highest at this moment.
  for (const old of numbers(folder)) if (old < number - 1) rmSync(file(folder, old), { force: true });
  const beat = setInterval(() => touch(path), heartbeatMs).unref();
  const rewrite = (holder: Holder): void => {
    const draft = join(folder, `draft-${me.id}`);
    writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
    renameSync(draft, path);
  };
  return {
    announce: (url) => rewrite({ ...me, url }),
    release: () => {
      clearInterval(beat);
      rewrite({ ...me, released: true });
    },
  };
}

function refuseIfHeld(dataDir: string, folder: string, number: number): void {
  const path = file(folder, number);
  const holder = read(path);
  if (!holder || holder.released) return;
  if (holder.host === hostname()) {
    if (startOfProcess(holder.pid) !== holder.start) return;
    throw new AlreadyRunningError(dataDir, holder.pid, holder.url, '');
  }
  if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > silentMs) return;
  throw new AlreadyRunningError(
    dataDir,
    holder.pid,
    holder.url,
    ` on ${holder.host}, seen in the last ${silentMs / 1000} s`,
  );
}

/** False: somebody else made it first. */
function create(folder: string, number: number, holder: Holder): boolean {
  const draft = join(folder, `draft-${holder.id}`);
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
  try {
    linkSync(draft, file(folder, number));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Undefined where a broken disk or a full one left no whole file: such a lock holds nobody back. */
function read(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // The folder went away under us; the next write to it says so.
  }
}

function numbers(folder: string): number[] {
  return readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function highest(folder: string): number {
  return Math.max(0, ...numbers(folder));
}

function file(folder: string, number: number): string {
  return join(folder, String(number));
}

/** Where the installation on this data serves, if it runs and has said so. */
export function servesAt(dataDir: string): string | undefined {
  const folder = join(dataDir, 'lock');
  if (!statSync(folder, { throwIfNoEntry: false })) return undefined;
  const last = highest(folder);
  try {
    if (last > 0) refuseIfHeld(dataDir, folder, last);
    return undefined;
  } catch (error) {
    if (error instanceof AlreadyRunningError) return error.url;
    throw error;
  }
}
