import 'reflect-metadata';
import { PostgresApiKeys } from '@palimpsest/application';
import { createLogger, createPool, loadConfig, openDataDir, type Pool } from '@palimpsest/platform';
import { type SimulatedModel, startSimulatedModel } from '@palimpsest/providers';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { serve } from '../../apps/api/src/serve';
import { type Installation, openInstallation } from '../../apps/api/src/wiring/installation';
import { readOperatorFiles } from '../../apps/api/src/wiring/operator-files';
import { temporaryFolder } from './child';
import { Client } from './client';
import { createTestDatabase, type TestDatabase } from './database';
import { HeldRequests } from './held-requests';
import { toolsFileFor, ToolServer } from './installation-tools';
import { faultsOfReadModels } from './rebuild';
import { newLog } from './test-log';

export type Settings = Readonly<Record<string, string>>;

/**
 * Short is what a test would only wait for. Bounds that end a wait are out of a busy machine's reach: what a question or a query waits for has
 * time to come, and leases are as long as by default, so that whoever lives keeps its turns.
 */
const times: Settings = {
  PALIMPSEST_SWEEP_MS: '200',
  PALIMPSEST_CALL_RETRY_MS: '20',
  PALIMPSEST_SHUTDOWN_GRACE_MS: '200',
  PALIMPSEST_EXTRACTION_MS: '30000',
  PALIMPSEST_MAX_WAIT_MS: '30000',
};

/** Of a process that is to die: how long its own leases outlive it. */
export const mortal: Settings = { PALIMPSEST_LEASE_MS: '1500', PALIMPSEST_LEASE_RENEW_MS: '200' };

/** A process of an installation, as far as anything matters: its own pool, engine and leases. */
export interface Process {
  readonly url: string;
  /** Everything that it logged. */
  readonly log: readonly string[];
  close(): Promise<void>;
}

/** A process inside this one. */
export interface InnerProcess extends Process {
  readonly installation: Installation;
  /** From now on it reaches its database no more, as a process that the network lost. It stays so until it is closed. */
  cutOff(): Promise<void>;
}

/** The real program in a process of its own. */
export interface OwnProcess extends Process {
  readonly pid: number;
  /** The exit code, or null where the signal ended it. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * One database, one simulated model, one server of tools, and any number of processes on them. With a log in EventStoreDB (`newLog`, or a
 * setting) it is spread over processes of the operating system, as in production: a projector alone writes the read models, and a client of
 * the only api process that the test started goes to a second one in turn.
 */
export class Deployment {
  readonly processes: Process[] = [];
  private readonly apis: Process[] = [];
  private projector: Promise<OwnProcess> | undefined;
  private second: Promise<Process> | undefined;

  private constructor(
    readonly database: TestDatabase,
    readonly pool: Pool,
    readonly model: SimulatedModel,
    /** Which of the requests to that model wait. */
    readonly requests: HeldRequests,
    readonly tools: ToolServer,
    private readonly folder: ReturnType<typeof temporaryFolder>,
    private readonly settings: Settings,
  ) {}

  static async open(settings: Settings = {}): Promise<Deployment> {
    const requests = new HeldRequests();
    const onRequest = (body: Buffer) => requests.pass(body);
    const [database, model, tools] = await Promise.all([
      createTestDatabase(),
      startSimulatedModel({ capture: true, contextCap: 2_000_000, onRequest }),
      ToolServer.start(),
    ]);
    const log = createLogger('silent');
    const pool = createPool({ url: database.url, applicationName: 'test', log, max: 4 });
    const folder = temporaryFolder();
    writeFileSync(join(folder.path, 'master-key'), randomBytes(32).toString('base64'), { mode: 0o600 });
    writeFileSync(join(folder.path, 'tools.json'), toolsFileFor(tools));
    return new Deployment(database, pool, model, requests, tools, folder, { ...newLog(), ...settings });
  }

  /** Starts a process inside this one. All of them call the one simulated model, which captures what it gets. */
  async start(settings: Settings = {}): Promise<InnerProcess> {
    const [process] = await Promise.all([this.startInside(settings), this.startProjector(settings)]);
    return process;
  }

  /** Starts an api process beside others: where the deployment is spread, one of its own. It calls the same simulated model. */
  async startBeside(settings: Settings = {}): Promise<Process> {
    return this.isSpread ? this.startApi(settings) : this.start(settings);
  }

  private async startInside(settings: Settings): Promise<InnerProcess> {
    const lines: string[] = [];
    const config = loadConfig(this.environment(settings));
    const write = (line: string): void => {
      lines.push(line);
      // A test sees a 500 and no more; what broke is said here.
      if (line.includes('failed unexpectedly')) console.error(line);
    };
    const log = createLogger(config.logLevel, { write });
    const home = openDataDir(config.dataDir);
    const installation = await openInstallation(
      config,
      readOperatorFiles(config),
      home,
      log,
      () => undefined,
      this.model,
    );
    const served = await serve(config, installation, log);
    let open = true;
    const process: InnerProcess = {
      ...{ url: served.url, log: lines, installation },
      cutOff: () => cutOff(installation),
      close: async () => {
        if (!open) return;
        open = false;
        await installation.running.drain().catch(() => undefined);
        await served.close();
        await installation.close().catch(() => undefined);
        home.release();
      },
    };
    this.processes.push(process);
    this.apis.push(process);
    return process;
  }

  /** Starts a program itself, to be killed. An api process has a simulated model of its own. */
  async spawn(settings: Settings = {}, program: 'api' | 'projector' = 'api'): Promise<OwnProcess> {
    const own = await this.run([join(__dirname, '..', '..', 'apps', program, 'src', 'main.ts')], settings);
    if (program === 'api') this.apis.push(own);
    return own;
  }

  private async startApi(settings: Settings): Promise<OwnProcess> {
    const own = await this.run([join(__dirname, 'api-process.ts'), this.model.url], settings);
    this.apis.push(own);
    return own;
  }

  private async startProjector(settings: Settings): Promise<void> {
    if (!this.isSpread || this.settings['PALIMPSEST_PROJECTOR'] !== undefined) return;
    await (this.projector ??= this.spawn({}, 'projector'));
    // The first one knows no projections of the operator's own, or no later version of them.
    const { PALIMPSEST_PROJECTIONS_DIR: own } = settings;
    if (own !== undefined) await this.spawn({ PALIMPSEST_PROJECTIONS_DIR: own }, 'projector');
  }

  /** Who writes the read models: the projector where the deployment is spread, or else the processes inside this one. */
  async writers(): Promise<Pick<OwnProcess, 'pid' | 'log'>> {
    return (await this.projector) ?? { pid: process.pid, log: this.processes.flatMap(({ log }) => log) };
  }

  private async run(program: readonly string[], settings: Settings): Promise<OwnProcess> {
    const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...this.environment(settings) };
    const child = spawn(process.execPath, ['-r', join(__dirname, 'ts.cjs'), ...program], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // 'close', not 'exit': what was written is read to its end.
    const ended = once(child, 'close');
    const lines: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => void lines.push(line));
    const kill = async (signal: NodeJS.Signals) => {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await ended;
      return child.exitCode;
    };
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [, address] = /serves at (\S+)/.exec(line) ?? [];
        if (address) resolve(address);
      });
      child.once('close', () => reject(new Error(`The process did not start: ${lines.join('\n')}`)));
    });
    const own: OwnProcess = {
      url,
      log: lines,
      pid: child.pid ?? 0,
      kill,
      close: async () => void (await kill('SIGTERM')),
    };
    this.processes.push(own);
    return own;
  }

  /** The path of a file or folder that lasts as long as the deployment. */
  file(name: string): string {
    return join(this.folder.path, name);
  }

  /** An API key of a new tenant, with both roles. */
  async newTenant(name = `tenant-${randomBytes(4).toString('hex')}`): Promise<{ tenantId: string; secret: string }> {
    return new PostgresApiKeys(this.pool).create({ tenantName: name }, ['tenant', 'operator']);
  }

  /**
   * A client of a new tenant, at a process; where the deployment is spread and this is its only one, at a second one in turn. `alone`: what
   * the test tells of is kept by each process for itself.
   */
  async client(process: Process, which: 'alone' | 'in turn' = 'in turn'): Promise<Client> {
    const { secret } = await this.newTenant();
    if (which === 'alone') return new Client(process.url, secret);
    if (this.isSpread && this.apis.length === 1) this.second = this.startApi({});
    const second = process === this.apis[0] ? await this.second : undefined;
    return new Client(process.url, secret, second ? [second.url] : []);
  }

  /** Where the read models, and the operator's own projections that the process has, are not what a rebuild makes of the log. */
  async faultsOfReadModels({ installation }: InnerProcess): Promise<readonly string[]> {
    const { store, own } = installation.running.system;
    return faultsOfReadModels(store, this.pool, own.models.map(({ projection }) => projection)); // prettier-ignore
  }

  /** Ends every process, whoever started it. The next start begins with none. */
  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.close()));
    this.processes.length = this.apis.length = 0;
    this.projector = this.second = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.pool.end();
    await Promise.all([this.database.drop(), this.model.close(), this.tools.close()]);
    this.folder.remove();
  }

  private get isSpread(): boolean {
    return Boolean(this.settings['EVENTSTORE_URL']);
  }

  private environment(settings: Settings): Settings {
    // Another database is another installation, which has another log.
    const isOfAnother = settings['DATABASE_URL'] !== undefined;
    return {
      ...times,
      ...(this.isSpread && !isOfAnother && { PALIMPSEST_PROJECTOR: 'off' }),
      DATABASE_URL: this.database.url,
      PALIMPSEST_PORT: '0',
      PALIMPSEST_DATA_DIR: join(this.folder.path, `data-${randomBytes(4).toString('hex')}`),
      PALIMPSEST_MASTER_KEY_FILE: join(this.folder.path, 'master-key'),
      PALIMPSEST_TOOLS_FILE: join(this.folder.path, 'tools.json'),
      PALIMPSEST_LOG_LEVEL: 'debug',
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: `${this.model.url}/v1`,
      ANTHROPIC_API_KEY: 'test',
      ANTHROPIC_BASE_URL: this.model.url,
      ...this.settings,
      ...(isOfAnother && newLog()),
      ...settings,
    };
  }
}

interface Inside {
  readonly _clients: readonly { readonly connection: { readonly stream: { destroy(error: Error): void } } }[];
}

/** Every connection breaks at once, no new one comes about, and nothing waits for one. */
async function cutOff({ pool, running }: Installation): Promise<void> {
  const lost = Object.assign(new Error('cut off by the test'), { code: 'ECONNRESET' });
  const refuse = (...args: unknown[]): unknown => {
    const callback = args.at(-1);
    if (typeof callback !== 'function') return Promise.reject(lost);
    callback(lost);
    return undefined;
  };
  Object.assign(pool, { connect: refuse, query: refuse });
  for (const { connection } of [...(pool as unknown as Inside)._clients]) connection.stream.destroy(lost);
  running.system.store.close().catch(() => undefined);
}

/** One line of a log, parsed. */
export const linesOf = ({ log }: Pick<Process, 'log'>): readonly Record<string, unknown>[] =>
  log.map((line) => JSON.parse(line) as Record<string, unknown>);

/** What a conversation's stream holds, opened. */
export async function eventsOf({ installation }: InnerProcess, conversationId: string) {
  return installation.running.system.log.after(conversationId, -1n);
}
