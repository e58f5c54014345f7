import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(__dirname, '..', '..');
const hook = join(root, 'test', 'support', 'ts.cjs');
const mainOf = (program: 'api' | 'projector') => join(root, 'apps', program, 'src', 'main.ts');

export const sources = { root, hook, main: mainOf('api') };

/** A program from the sources. */
export const commandOf = (program: 'api' | 'projector'): readonly string[] => [
  process.execPath,
  '-r',
  hook,
  mainOf(program),
];

/** How a process ended: its exit code, or the signal that ended it. */
export type End = number | NodeJS.Signals;

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [key: string]: unknown;
}

/** Only what is given, so that nothing of the test's own environment configures the process. */
export function environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, ...env };
}

/** Palimpsest as a real process, from the sources, to be killed at any instant. */
export class InstallationProcess {
  /** Lines of standard output. */
  readonly said: string[] = [];
  /** Log lines of level warn and above, the last 1,000. */
  readonly complaints: LogLine[] = [];
  readonly logged: string[] = [];
  readonly ended: Promise<End>;
  /** What stands on standard error and is no log line. */
  errors = '';
  private readonly child: ChildProcess;
  private urlFound: string | undefined;
  private readonly serving: Promise<string | undefined>;

  constructor(env: Readonly<Record<string, string>>, command: readonly string[] = commandOf('api')) {
    const [program = '', ...args] = command;
    this.child = spawn(program, args, {
      cwd: root,
      env: environment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    // Nothing that the test starts outlives the test, however that ends.
    const end = () => void this.child.kill('SIGKILL');
    process.once('exit', end);
    this.child.once('exit', () => process.off('exit', end));
    this.ended = once(this.child, 'close').then(([status, signal]) => (signal ?? status) as End);
    this.serving = new Promise((resolve) => {
      void this.ended.then(() => resolve(undefined));
      if (!this.child.stdout || !this.child.stderr) return;
      createInterface({ input: this.child.stderr }).on('line', (line) => this.heard(line));
      createInterface({ input: this.child.stdout }).on('line', (line) => {
        this.said.push(line);
        this.urlFound ??= /serves at (\S+)/.exec(line)?.[1];
        if (line.trim() === 'Stop        Ctrl-C' || line.startsWith('The projector serves')) resolve(this.urlFound);
      });
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Resolves as soon as the banner is out, or the projector's line. Rejects with what the process said where it ended instead. */
  async ready(): Promise<string> {
    const url = await this.serving;
    if (url === undefined)
      throw new Error(`The process ended (${await this.ended}): ${this.errors}${this.said.join('\n')}`);
    return url;
  }

  async kill(signal: NodeJS.Signals): Promise<End> {
    this.child.kill(signal);
    return this.ended;
  }

  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** As a terminal does on Ctrl-C: to every process of the group. */
  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-this.pid, signal);
  }

  /** Resolves with the first log line, or other line, that fits. */
  async says(pattern: RegExp, withinMs = 20_000): Promise<string> {
    for (const end = performance.now() + withinMs; performance.now() < end;) {
      const found = [...this.logged, ...this.said].find((line) => pattern.test(line));
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`Within ${withinMs} ms nothing like ${pattern} was said.`);
  }

  private heard(line: string): void {
    if (!line.startsWith('{')) {
      this.errors += `${line}\n`;
      return;
    }
    this.logged.push(line);
    if (this.logged.length > 5_000) this.logged.shift();
    const entry = JSON.parse(line) as LogLine;
    if (['warn', 'error', 'fatal'].includes(entry.level)) this.complaints.push(entry);
    if (this.complaints.length > 1_000) this.complaints.shift();
  }
}

/** The first key, which the first start made. */
export const keyIn = (dataDir: string): string => readFileSync(join(dataDir, 'api-key'), 'utf8').trim();
