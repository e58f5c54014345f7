import { setTimeout as sleep } from 'node:timers/promises';
import { commandOf, InstallationProcess, type LogLine } from './installation-process';

const STARTS = 5;

/** A program that is started again whenever it was killed, as its operator would. */
export class KeptProcess {
  private process: InstallationProcess | undefined;
  private starting: Promise<void> = Promise.resolve();
  private readonly said: LogLine[] = [];
  /** Where it serves; undefined while it does not. */
  url: string | undefined;
  kills = 0;

  constructor(
    private readonly settings: Readonly<Record<string, string>>,
    private readonly program: 'api' | 'projector',
  ) {}

  /** Starts that fail are tried again: what befalls the others may befall them as well. */
  async start(): Promise<void> {
    for (let failures = 0; ; failures += 1)
      try {
        return await this.launch();
      } catch (error) {
        if (failures === STARTS) throw error;
        await sleep(100);
      }
  }

  private async launch(): Promise<void> {
    const process = new InstallationProcess(this.settings, commandOf(this.program));
    this.process = process;
    this.url = await process.ready();
  }

  /** Resolves once it serves. Rejects where it could not be started again. */
  async up(): Promise<void> {
    await this.starting;
  }

  /** SIGKILL. It comes up again by itself; `up` waits for that. */
  async kill(): Promise<void> {
    await this.up();
    this.url = undefined;
    this.kills += 1;
    await this.process?.kill('SIGKILL');
    this.keep();
    this.starting = this.start();
    this.starting.catch(() => undefined);
  }

  /** Stopped for so long, with all its connections open, and awake again with all that it was doing. */
  async pause(ms: number): Promise<void> {
    await this.up();
    this.process?.signal('SIGSTOP');
    await sleep(ms);
    this.process?.signal('SIGCONT');
  }

  /** Its last log lines of level error, those of its earlier lives included. */
  get errors(): readonly LogLine[] {
    this.keep();
    return this.said.slice(-20);
  }

  async end(): Promise<void> {
    await this.starting.catch(() => undefined);
    await this.process?.kill('SIGKILL');
  }

  private keep(): void {
    const lines = this.process?.complaints.splice(0) ?? [];
    this.said.push(...lines.filter(({ level }) => level === 'error' || level === 'fatal'));
    this.said.splice(0, this.said.length - 20);
  }
}
