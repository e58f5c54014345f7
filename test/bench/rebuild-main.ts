/** `npm run bench:rebuild`: a million events, or --events N: how fast every read model is built from them, and how much memory that takes. */
import { createLogger, startEmbeddedPostgres } from '@palimpsest/platform';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../support/child';
import { createTestDatabase } from '../support/database';
import { measureRebuilds } from './rebuilds';
import { print } from './rows';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { events: { type: 'string', default: '1000000' } } });
  const folder = temporaryFolder();
  const postgres = await startEmbeddedPostgres({
    dataDir: folder.path,
    log: createLogger('error'),
    onLost: (error) => {
      throw error;
    },
  });
  process.env['TEST_DATABASE_URL'] = postgres.adminUrl;
  try {
    const { url } = await createTestDatabase();
    const say = (text: string): void => void process.stderr.write(`${text}\n`);
    process.stdout.write(print(await measureRebuilds(url, Number(values.events), say)));
  } finally {
    await postgres.stop();
    folder.remove();
  }
}

void main();
