import { PostgresApiKeys } from '@palimpsest/application';
import { createLogger, createPool, type Pool } from '@palimpsest/platform';
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder } from '../support/child';
import { Client } from '../support/client';
import { BenchTool } from './tool-server';

const HOOK = join(__dirname, '..', 'support', 'ts.cjs');
const SERVER = join(__dirname, '..', '..', 'apps', 'api', 'src', 'main.ts');

/** What is measured, each part in a process of its own: the real program over HTTP, the model, and here the client with the tool. */
export interface Site {
  readonly databaseUrl: string;
  readonly client: Client;
  /** Of the server's process. */
  readonly pid: number;
  readonly pool: Pool;
  readonly tool: BenchTool;
  readonly model: ModelProcess;
  /** The installation's key, to read the log with. */
  readonly masterKey: Buffer;
  /** Waits until the read models hold all that the log holds. */
  readModelsCaughtUp(): Promise<void>;
  close(): Promise<void>;
}

export interface SiteOptions {
  /** A folder for a CPU profile of the server. */
  readonly profile?: string | undefined;
}

/** An installation on a database that is empty. */
export async function openSite(databaseUrl: string, { profile }: SiteOptions = {}): Promise<Site> {
  const folder = temporaryFolder();
  const masterKey = randomBytes(32);
  const [tool, model] = await Promise.all([BenchTool.start(), ModelProcess.start()]);
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder.path, name), text, { mode: 0o600 });
    return join(folder.path, name);
  };
  const env = {
    ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], DATABASE_URL: databaseUrl, PALIMPSEST_PORT: '0' },
    PALIMPSEST_DATA_DIR: join(folder.path, 'data'),
    PALIMPSEST_MASTER_KEY_FILE: file('master-key', masterKey.toString('base64')),
    PALIMPSEST_TOOLS_FILE: file('tools.json', tool.toolsFile),
    ...{ OPENAI_API_KEY: 'bench', OPENAI_BASE_URL: `${model.url}/v1` },
  };
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const server = spawn(process.execPath, [...profiling, '-r', HOOK, SERVER], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  /** Whatever ends the bench: nothing of it goes on, and nothing is left. */
  const clear = (): void => {
    server.kill('SIGKILL');
    folder.remove();
  };
  process.once('exit', clear);
  const url = await addressOf(server);
  const pool = createPool({ url: databaseUrl, applicationName: 'bench', log: createLogger('silent'), max: 4 });
  const { secret } = await new PostgresApiKeys(pool).create({ tenantName: 'bench' }, ['tenant']);
  const close = async (): Promise<void> => {
    const ended = once(server, 'exit');
    server.kill('SIGTERM');
    await ended;
    process.off('exit', clear);
    await Promise.all([pool.end(), tool.close(), model.close()]);
    folder.remove();
  };
  return {
    databaseUrl,
    client: new Client(url, secret),
    pid: server.pid ?? 0,
    pool,
    tool,
    model,
    masterKey,
    readModelsCaughtUp: () => caughtUp(pool),
    close,
  };
}

async function caughtUp(pool: Pool): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ behind: boolean }>(
      `select (select max(position) from event_log.events) > (select min(position) from read.generations where state = 'live') as behind`,
    );
    if (!rows[0]?.behind) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function addressOf({ stdout, stderr }: ReturnType<typeof spawn>): Promise<string> {
  if (!stdout || !stderr) throw new Error('The server was started without pipes.');
  const errors: string[] = [];
  createInterface({ input: stderr }).on('line', (line) => errors.length < 20 && errors.push(line));
  for await (const line of createInterface({ input: stdout })) {
    const [, address] = /serves at (\S+)/.exec(line) ?? [];
    if (address === undefined) continue;
    stdout.resume();
    return address;
  }
  throw new Error(`The server did not start: ${errors.join('\n')}`);
}

interface ModelAddresses {
  readonly model: string;
  readonly nothing: string;
}

export class ModelProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly addresses: ModelAddresses,
  ) {}

  static async start(): Promise<ModelProcess> {
    const child = fork(join(__dirname, 'model-process.ts'), { execArgv: ['-r', HOOK] });
    const [addresses] = (await once(child, 'message')) as [ModelAddresses];
    return new ModelProcess(child, addresses);
  }

  get url(): string {
    return this.addresses.model;
  }

  /** A server that reads what it gets and says one word. */
  get nothing(): string {
    return this.addresses.nothing;
  }

  /** Milliseconds from the last bytes of requests to the last bytes of answers, since this was asked last; of both servers. */
  async takeSpentMs(): Promise<number> {
    const told = once(this.child, 'message');
    this.child.send('spent?');
    const [{ spentMs }] = (await told) as [{ readonly spentMs: number }];
    return spentMs;
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }
}
