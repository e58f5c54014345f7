import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type End, environment, sources } from '../chaos/installation-process';

const main = join(sources.root, 'apps', 'cli', 'src', 'main.ts');

export interface Run {
  readonly end: End;
  readonly out: string;
  readonly err: string;
}

/** The command line as a real process, from the sources, in a process group of its own. */
export class CliProcess {
  out = '';
  err = '';
  readonly pid: number;
  private readonly child: ChildProcess;
  private readonly ended: Promise<End>;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, ['-r', sources.hook, main, ...args], {
      cwd: sources.root,
      env: environment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.pid = this.child.pid ?? 0;
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.out += text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.err += text));
    // 'close', not 'exit': what was written is read to its end.
    this.ended = once(this.child, 'close').then(([status, signal]) => (signal ?? status) as End);
  }

  async result(): Promise<Run> {
    const end = await this.ended;
    return { end, out: this.out, err: this.err };
  }

  /** As a terminal does on Ctrl-C: to every process of the group. */
  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }
}

export const palimpsest = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Run> =>
  new CliProcess(args, env).result();

/** Pids of the processes that were started with this folder as an argument or a setting. */
export function processesOn(folder: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => ['cmdline', 'environ'].some((file) => textOf(join('/proc', pid, file)).includes(folder)))
    .map(Number);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export async function until(what: () => boolean, withinMs = 60_000): Promise<void> {
  for (const end = performance.now() + withinMs; !what(); await new Promise((wait) => setTimeout(wait, 20)))
    if (performance.now() > end) throw new Error(`Within ${withinMs} ms it did not happen: ${String(what)}`);
}
