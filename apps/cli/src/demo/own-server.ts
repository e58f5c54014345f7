import { removeData } from '@palimpsest/platform';
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface OwnServer {
  readonly url: string;
  /** Of the first API key. */
  readonly secret: string;
}

const served = /^Palimpsest serves at (\S+)$/m;
/** The end of what the server said on standard error, for when it fails. Characters. */
const KEPT = 4_000;
/** The server gets this long to stop by itself. Milliseconds. */
const STOP_PATIENCE_MS = 45_000;

/**
 * Runs the real server for the time of `work`: a process of its own, on any free port, with an embedded Postgres and data in a temporary
 * folder. Whatever happens, process and folder are gone afterwards.
 */
export async function withOwnServer<T>(
  interruption: AbortSignal,
  work: (ready: Promise<OwnServer>) => Promise<T>,
): Promise<T> {
  const dataDir = temporaryFolder();
  try {
    const child = start(dataDir);
    const ended = once(child, 'exit');
    try {
      const secret = (): string => readFileSync(join(dataDir, 'api-key'), 'utf8').trim();
      return await work(announced(child, interruption).then((url) => ({ url, secret: secret() })));
    } finally {
      await stop(child, ended);
    }
  } finally {
    removeData(dataDir);
  }
}

function temporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'palimpsest-demo-'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `The demo cannot keep its data in ${tmpdir()} (${code}). Set TMPDIR to a folder that you may write to.`,
      {
        cause: error,
      },
    );
  }
}

/** In a process group of its own: Ctrl-C reaches the demo alone, which then stops the server, once. */
function start(dataDir: string): ChildProcess {
  return fork(require.resolve('./server-process'), {
    detached: true,
    env: {
      ...withoutSettings(process.env),
      PALIMPSEST_DATA_DIR: dataDir,
      PALIMPSEST_PORT: '0',
      PALIMPSEST_LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}

/** The demo shows the same on every machine: no database, provider or limit of the person who runs it. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const setting = /^(?:PALIMPSEST_|OPENAI_|ANTHROPIC_|PG|DATABASE_URL$|EVENTSTORE_)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !setting.test(name)));
}

/** The address in the server's banner. */
function announced(child: ChildProcess, interruption: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let [out, err] = ['', ''];
    child.stderr?.setEncoding('utf8').on('data', (text: string) => void (err = (err + text).slice(-KEPT)));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      out = (out + text).slice(-KEPT);
      const url = served.exec(out)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      reject(
        new Error(
          `The demo's server ended (${signal ?? `code ${code}`}) before it served: ${err.trim() || 'it gave no reason'}`,
        ),
      );
    });
    interruption.addEventListener('abort', () => reject(interruption.reason as Error), { once: true });
    if (interruption.aborted) reject(interruption.reason as Error);
  });
}

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const tooLate = setTimeout(() => child.kill('SIGKILL'), STOP_PATIENCE_MS);
  await ended;
  clearTimeout(tooLate);
}
