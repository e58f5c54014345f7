import { join } from 'node:path';
import { InstallationProcess } from '../chaos/installation-process';
import { temporaryFolder } from '../support/child';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { EventStoreDbServer } from '../support/eventstoredb';
import { palimpsest } from './cli-process';

let folder: ReturnType<typeof temporaryFolder>;
let database: TestDatabase;
let server: EventStoreDbServer;
let settings: Record<string, string>;

// An installation that was started once, and stopped.
beforeAll(async () => {
  folder = temporaryFolder();
  database = await createTestDatabase();
  server = await EventStoreDbServer.start();
  settings = {
    PALIMPSEST_DATA_DIR: join(folder.path, 'data'),
    PALIMPSEST_PORT: '0',
    DATABASE_URL: database.url,
    EVENTSTORE_URL: server.url,
  };
  const installation = new InstallationProcess(settings);
  await installation.ready();
  expect(await installation.kill('SIGTERM')).toBe(0);
});
afterEach(() => server.faults.clear());
afterAll(async () => {
  server.close();
  await database.drop();
  folder.remove();
});

describe('a log that can be reached', () => {
  it('is verified, with code 0', async () => {
    const { end, out, err } = await palimpsest(['verify'], settings);
    expect({ end, err }).toEqual({ end: 0, err: '' });
    expect(out).toMatch(/^Sound: /);
  });
});

describe('what is not in the log', () => {
  it('is not called sound, with code 3: an unknown conversation, a position beyond the end', async () => {
    const id = '01a229ff-1fd7-738f-80cd-6a29f0c093be';
    const [unknown, beyond] = await Promise.all([
      palimpsest(['verify', '--conversation', id], settings),
      palimpsest(['verify', '--since', '999999999999'], settings),
    ]);
    expect(unknown).toEqual({ end: 3, out: '', err: `There is no conversation ${id} in the log.\n` });
    expect(beyond).toMatchObject({ end: 3, out: '' });
    expect(beyond.err).toMatch(/^There is no position 999999999999 in the log: it ends at -?\d+\.\n$/);
  });
});

describe('a log that cannot be reached', () => {
  const sentence = /^The EventStoreDB of EVENTSTORE_URL cannot be read \(.+\)\. Try again later\.\n$/;

  it.each([
    ['that nobody serves', () => 'esdb://127.0.0.1:1?tls=false'],
    ['that serves no TLS', () => server.url.replace('127.0.0.1', 'localhost').replace('tls=false', 'tls=true')],
    ['that is frozen', () => server.url],
  ])('is no success, and is told in a sentence: a server %s', async (which, url) => {
    if (which === 'that is frozen') server.faults.freeze();
    const env = { ...settings, PALIMPSEST_LOG_TRY_TIMEOUT_MS: '300', EVENTSTORE_URL: url() };
    const [verified, anchored] = await Promise.all([palimpsest(['verify'], env), palimpsest(['anchor'], env)]);
    expect(verified).toEqual({ end: 3, out: '', err: expect.stringMatching(sentence) as string });
    expect(anchored).toEqual({ end: 1, out: '', err: expect.stringMatching(sentence) as string });
  });
});
