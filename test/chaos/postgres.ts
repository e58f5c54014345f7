import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface PostgresServer {
  /** As the superuser. */
  readonly adminUrl: string;
  urlOf(database: string): string;
  stop(): Promise<void>;
}

const support = join(__dirname, '..', 'support');

/** A Postgres of the test's own that keeps what it acknowledged. It outlives the installations that are killed beside it. */
export async function startPostgres(): Promise<PostgresServer> {
  const child = spawn(process.execPath, ['-r', join(support, 'ts.cjs'), join(support, 'postgres-server.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, TEST_POSTGRES_FSYNC: 'on' },
    // Ctrl-C is the driver's: it ends this server in its own time.
    detached: true,
  });
  const ended = once(child, 'exit');
  const adminUrl = await new Promise<string>((resolve, reject) => {
    void ended.then(() => reject(new Error('The Postgres of the test did not start.')));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, url] = /^ready (\S+)$/.exec(line) ?? [];
      if (url) resolve(url);
    });
  });
  return {
    adminUrl,
    urlOf: (database) => Object.assign(new URL(adminUrl), { pathname: `/${database}` }).href,
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
