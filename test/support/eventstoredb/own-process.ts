import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Order } from './main';

/** The server in a process of its own: it can be stopped (SIGSTOP), killed, and started again on its port and journal. */
export class EventStoreDbProcess {
  private constructor(
    private child: ChildProcess,
    readonly url: string,
    private readonly journal: string | undefined,
  ) {}

  static async start({ journal }: { journal?: string } = {}): Promise<EventStoreDbProcess> {
    const { child, url } = await launch('0', journal);
    return new EventStoreDbProcess(child, url, journal);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  async order(order: Order): Promise<void> {
    const done = once(this.child, 'message');
    this.child.send(order);
    await done;
  }

  /** As an operator or the kernel does. SIGSTOP leaves every connection open, and not even a ping is answered. */
  async signal(signal: NodeJS.Signals): Promise<void> {
    const gone = once(this.child, 'exit');
    this.child.kill(signal);
    if (signal === 'SIGKILL' || signal === 'SIGTERM') await gone;
  }

  /** After its end: on the same port, with what its journal holds. */
  async startAgain(): Promise<void> {
    ({ child: this.child } = await launch(new URL(this.url.replace(/^esdb/, 'http')).port, this.journal));
  }

  async close(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.signal('SIGKILL');
  }
}

async function launch(port: string, journal: string | undefined): Promise<{ child: ChildProcess; url: string }> {
  const hook = join(__dirname, '..', 'ts.cjs');
  const main = join(__dirname, 'main.ts');
  const child = spawn(process.execPath, ['-r', hook, main, port, ...(journal === undefined ? [] : [journal])], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`The EventStoreDB of the test ended with ${code}.`)));
  });
  return { child, url };
}
