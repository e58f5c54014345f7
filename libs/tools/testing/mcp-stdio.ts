import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpRun } from './mcp-server';

interface Entry {
  readonly started?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly received?: string;
  readonly run?: McpRun;
}

/** What a server of a test wrote down, in whatever process it ran. */
export class Journal {
  private readonly folder = mkdtempSync(join(tmpdir(), 'palimpsest-mcp-'));
  readonly path = join(this.folder, 'journal');

  get entries(): readonly Entry[] {
    if (!existsSync(this.path)) return [];
    const lines = readFileSync(this.path, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Entry);
  }

  get runs(): readonly McpRun[] {
    return this.entries.flatMap(({ run }) => (run ? [run] : []));
  }

  /** Processes that were started, in order. */
  get pids(): readonly number[] {
    return this.entries.flatMap(({ started }) => (started === undefined ? [] : [started]));
  }

  get received(): string {
    return this.entries.map(({ received }) => received ?? '').join('');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Command and arguments of the test server over standard input and output. */
export const stdioCommand = {
  command: process.execPath,
  args: ['-r', join(__dirname, '..', '..', '..', 'test', 'support', 'ts.cjs'), join(__dirname, 'mcp-stdio-server.ts')],
};

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
