import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A Node process of a test's own, to be killed at any instant. */
export interface Child {
  readonly pid: number;
  /** The next line that it writes to standard output; rejects with its standard error where it ends instead. */
  line(): Promise<string>;
  /** Its end: exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  kill(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Runs a piece of CommonJS in plain Node, where `require('@palimpsest/...')` gives the sources; `input` is its `process.argv[1]`. */
export function startChild(code: string, input = '', env: NodeJS.ProcessEnv = process.env): Child {
  const child = spawn(process.execPath, ['-r', join(__dirname, 'ts.cjs'), '-e', code, input], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => void (errors += chunk));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'exit').then(([status, signal]) => (signal ?? status) as number | NodeJS.Signals);
  return {
    pid: child.pid ?? 0,
    ended,
    line: async () => {
      const next = await lines.next();
      if (next.done) throw new Error(`The child ended: ${errors}`);
      return next.value;
    },
    kill: async (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

/** An empty folder that the service user of the embedded Postgres can reach. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'palimpsest-test-'));
  chmodSync(path, 0o711);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Processes that work in a folder, as Postgres does in its data. */
export function processesIn(path: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(path);
    } catch {
      return false;
    }
  });
}
