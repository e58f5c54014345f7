import { spawn, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { runAs } from './postgres-binaries';
import type { PostgresHome } from './postgres-home';
import { startOfProcess } from './process-identity';

const maxLogBytes = 4 * 1024 * 1024;

/** Settings that are not Postgres's own. fsync stays on: what was acknowledged survives a power cut. */
const standard = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  max_connections: '150',
  // No statement and no error text reaches the log file: they may quote what a person wrote.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_statement: 'none',
};

/** One run of the server. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** Settles when the server is gone, with how it ended. */
  readonly ended: Promise<string>;
  /** Fast shutdown: sessions are ended, all is written. Nothing happens where it is gone already. */
  stop(): Promise<void>;
}

/** @throws with the last lines of the server's log where it ends before it is ready. */
export async function launch(
  home: PostgresHome,
  port: number,
  settings: Readonly<Record<string, string>>,
): Promise<Postmaster> {
  const data = join(home.folder, 'data');
  const log = openLog(home);
  const flags = Object.entries({ ...standard, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const from = statSync(join(home.folder, 'postgres.log')).size;
  // A group of its own: Ctrl-C goes to the whole group of the terminal, and must reach us first. A log file and no pipe: a pipe would
  // break when this process dies.
  const child = spawn(home.binaries.postgres, ['-D', data, '-p', String(port), ...flags], {
    ...runAs(home.user),
    cwd: '/',
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const ended = endOf(child);
  const how = await Promise.race([ended, untilReady(child, data)]);
  if (how !== undefined) throw new Error(`Postgres did not start: ${lastLines(home, from) || how}`);
  return { pid: child.pid ?? 0, port, ended, stop: () => stopBy((name) => void child.kill(name), ended) };
}

function openLog({ folder }: PostgresHome): number {
  const path = join(folder, 'postgres.log');
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxLogBytes) renameSync(path, `${path}.1`);
  return openSync(path, 'a', 0o600);
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', (code, signal) => done(signal ? `it was ended by ${signal}` : `it ended with code ${code}`));
  });
}

/** The server writes "ready" into line 8 of its pid file. Recovery after a crash may take its time, so there is no limit here. */
async function untilReady(child: ChildProcess, data: string): Promise<undefined> {
  for (;;) {
    const lines = pidFile(data);
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return;
    if (child.exitCode !== null || child.signalCode !== null) await new Promise(() => undefined);
    await wait(20);
  }
}

function lastLines({ folder }: PostgresHome, from: number): string {
  const written = readFileSync(join(folder, 'postgres.log')).subarray(from).toString('utf8');
  return written.trim().split('\n').slice(-4).join(' / ');
}

/**
 * Makes way for a new server: stops one that an earlier process of ours left behind, and removes a pid file that would keep a new
 * one from starting though nobody works on the data. Only for the holder of the data directory's lock.
 */
export async function clearTheWay({ folder }: PostgresHome): Promise<'stopped' | 'nothing'> {
  const data = join(folder, 'data');
  const pid = Number(pidFile(data)[0]);
  if (!Number.isInteger(pid) || pid <= 0) return 'nothing';
  if (startOfProcess(pid) !== undefined && worksOn(pid, data)) {
    await stopOrphan(pid);
    return 'stopped';
  }
  // Dead, a zombie that nobody collects, or its pid belongs to another program by now. Its children may live a moment longer.
  for (let tries = 0; tries < 100 && workers(data).length > 0; tries += 1) await wait(100);
  if (workers(data).length === 0) rmSync(join(data, 'postmaster.pid'), { force: true });
  return 'nothing';
}

/** After 60 s the hard way, which costs a recovery at the next start. */
async function stopBy(send: (name: NodeJS.Signals) => void, ended: Promise<unknown>): Promise<void> {
  send('SIGINT');
  const patience = setTimeout(() => send('SIGQUIT'), 60_000);
  await ended;
  clearTimeout(patience);
}

async function stopOrphan(pid: number): Promise<void> {
  const start = startOfProcess(pid);
  const lives = (): boolean => start !== undefined && startOfProcess(pid) === start;
  const ended = (async () => {
    while (lives()) await wait(20);
  })();
  await stopBy((name) => lives() && process.kill(pid, name), ended);
}

/** The port of the server that works on this data at this moment and is ready. */
export function servingPort(data: string): number | undefined {
  const lines = pidFile(data);
  const pid = Number(lines[0]);
  const serves = lines[7]?.trim() === 'ready' && startOfProcess(pid) !== undefined && worksOn(pid, data);
  return serves ? Number(lines[3]) : undefined;
}

function pidFile(data: string): string[] {
  const path = join(data, 'postmaster.pid');
  try {
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  } catch {
    return [];
  }
}

/** A postmaster and its children have their data directory as working directory. */
function worksOn(pid: number, data: string): boolean {
  if (process.platform !== 'linux') return pidFile(data)[1] === data;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === data;
  } catch {
    return false;
  }
}

function workers(data: string): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  return pids.filter((pid) => worksOn(pid, data));
}
