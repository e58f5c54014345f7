import { type ChildProcess, spawn } from 'node:child_process';
import type { HeldArguments } from './held-arguments';
import { LineReader } from './line-reader';
import type { StdioServer } from './mcp.config';
import type { Message, Sdk, Transport } from './sdk';

/** Milliseconds that a server gets to end by itself once its input has ended, and again after SIGTERM. */
const GRACE_MS = 1_000;

/**
 * An MCP server as a process of ours, with its own group: whatever it started itself ends with it. Its standard error is nobody's, since
 * it may hold content.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: Message) => void;
  private child: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();

  constructor(
    private readonly server: Pick<StdioServer, 'command' | 'args' | 'env'>,
    private readonly held: HeldArguments,
    private readonly maxMessageBytes: number,
    private readonly sdk: Sdk,
  ) {}

  /** Resolves when the process runs; rejects where it can't be started. */
  async start(): Promise<void> {
    const { command, args, env } = this.server;
    const child = spawn(command, args, {
      env: { ...this.sdk.getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.child = child;
    const lines = new LineReader(this.maxMessageBytes, (line) => this.receive(line));
    child.stdin.on('error', (error) => this.onerror?.(error));
    child.stdout.on('data', (chunk: Buffer) => {
      try {
        lines.put(chunk);
      } catch (error) {
        this.onerror?.(error as Error);
        kill(child, 'SIGKILL');
      }
    });
    this.ended = new Promise((resolve) => {
      // Those whom it left behind would hold its output open.
      child.once('exit', () => kill(child, 'SIGKILL'));
      child.once('close', () => {
        living.delete(child);
        this.onclose?.();
        resolve();
      });
    });
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', resolve);
    });
    living.add(child);
  }

  async send(message: Message): Promise<void> {
    const { stdin } = this.child ?? {};
    if (!stdin?.writable) throw new Error('The process of the server has ended.');
    const line = `${this.held.restore(JSON.stringify(message)).message}\n`;
    await new Promise<void>((resolve, reject) => stdin.write(line, (error) => (error ? reject(error) : resolve())));
  }

  /** Resolves when no process of the server's is left. */
  async close(): Promise<void> {
    const { child } = this;
    if (child?.pid === undefined) return;
    child.stdin?.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await within(GRACE_MS, this.ended)) return;
      kill(child, signal);
    }
    await within(GRACE_MS, this.ended);
  }

  private receive(line: string): void {
    try {
      this.onmessage?.(JSON.parse(line) as Message);
    } catch {
      // Some servers greet on their standard output. The line is not repeated: it may hold content.
      this.onerror?.(new Error('The server wrote a line that is no message.'));
    }
  }
}

/** Servers whose processes run. They end with this process, however it ends, as long as it still runs code. */
const living = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of living) kill(child, 'SIGKILL');
});

/** The whole group; one that has ended already is as it should be. */
function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function within(ms: number, done: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(resolve, ms, false)));
  try {
    return await Promise.race([done.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
