/**
 * The Postgres of a test run: a child process of Jest that holds one throw-away cluster. It prints `ready <url>` and lives as long as
 * its standard input is open, so it ends with Jest, however Jest ends.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, startEmbeddedPostgres } from '@palimpsest/platform';

const durable = process.env['TEST_POSTGRES_FSYNC'] === 'on' ? 'on' : 'off';
const settings = { max_connections: '300', fsync: durable, full_page_writes: durable };

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'palimpsest-test-postgres-'));
  const end = (code: number): never => {
    rmSync(dataDir, { recursive: true, force: true });
    process.exit(code);
  };
  try {
    const letGo = new Promise<void>((done) => {
      process.stdin.once('close', done).resume();
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => done());
    });
    const server = await startEmbeddedPostgres({ dataDir, log: createLogger('error'), onLost: () => end(1), settings });
    process.stdout.write(`ready ${server.adminUrl}\n`);
    await letGo;
    await server.stop();
    end(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    end(1);
  }
}

void main();
