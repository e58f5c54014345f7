import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { InstallationProcess, keyIn } from '../chaos/installation-process';
import { temporaryFolder } from '../support/child';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { newLog } from '../support/test-log';
import { palimpsest, processesOn, type Run, until } from './cli-process';

jest.setTimeout(120_000);

interface NewKey {
  readonly keyId: string;
  readonly tenantId: string;
  readonly secret: string;
}

let folder: ReturnType<typeof temporaryFolder>;
let settings: Record<string, string>;
let server: InstallationProcess;
let url: string;

// One installation for all: it is started, stopped and started again below.
beforeAll(async () => {
  folder = temporaryFolder();
  settings = { PALIMPSEST_DATA_DIR: join(folder.path, 'data'), PALIMPSEST_PORT: '0', ...newLog() };
  await start();
});

afterAll(async () => {
  await server.kill('SIGTERM');
  const left = processesOn(folder.path);
  folder.remove();
  expect(left).toEqual([]);
});

async function start(): Promise<void> {
  server = new InstallationProcess(settings);
  url = await server.ready();
}

const keys = (...args: readonly string[]): Promise<Run> => palimpsest(['keys', ...args], settings);

async function create(...args: readonly string[]): Promise<NewKey> {
  const { end, out, err } = await keys('create', ...args, '--json');
  expect({ end, err }).toEqual({ end: 0, err: '' });
  return JSON.parse(out) as NewKey;
}

async function status(path: string, secret: string): Promise<number> {
  return (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${secret}` } })).status;
}

describe('an API key', () => {
  it('made beside a running installation works there at once, for its tenant and its roles', async () => {
    const key = await create('--tenant', 'acme');
    const both = await create('--tenant', 'acme', '--role', 'tenant', '--role', 'operator');
    expect(both.tenantId).toBe(key.tenantId);
    expect(both.secret).not.toBe(key.secret);
    expect(await status('/v1/conversations', key.secret)).toBe(200);
    expect(await status('/metrics', key.secret)).toBe(403);
    expect(await status('/metrics', both.secret)).toBe(200);
  });

  it('is shown to a person once, and never by its secret again', async () => {
    const { end, out } = await keys('create', '--tenant', 'Firma Müller & Söhne');
    const [secret = ''] = /plk_[\w-]{43}/.exec(out) ?? [];
    expect(end).toBe(0);
    expect(await status('/v1/conversations', secret)).toBe(200);
    const listed = await keys('list');
    expect(listed.out).toMatch(/ tenant {11}valid {15}Firma Müller & Söhne$/m);
    expect(listed.out).toMatch(/ tenant\+operator {2}valid {15}default$/m);
    expect(`${listed.out}${(await keys('list', '--json')).out}`).not.toContain('plk_');
  });

  it('that was revoked works no more, and is listed as revoked', async () => {
    const { keyId, secret } = await create('--tenant', 'acme');
    expect(await keys('revoke', keyId)).toEqual({ end: 0, out: `Revoked ${keyId}.\n`, err: '' });
    expect(await status('/v1/conversations', secret)).toBe(401);
    const { keys: listed } = JSON.parse((await keys('list', '--json')).out) as {
      keys: { keyId: string; revokedAt: string | null }[];
    };
    expect(listed.find((key) => key.keyId === keyId)?.revokedAt).toMatch(/^\d{4}-/);
    const again = await keys('revoke', keyId);
    expect(again).toMatchObject({ end: 1, out: '' });
    expect(again.err).toMatch(/^There is no valid key .*\n$/);
  });

  it('made while the installation is stopped works once it runs; Postgres runs for that moment alone', async () => {
    expect(await server.kill('SIGTERM')).toBe(0);
    const [one, two] = await Promise.all([create('--tenant', 'globex'), create('--tenant', 'globex')]);
    expect(one.tenantId).toBe(two.tenantId);
    expect(processesOn(folder.path)).toEqual([]);
    await start();
    for (const { secret } of [one, two]) expect(await status('/v1/conversations', secret)).toBe(200);
  });

  it('made while the installation starts waits for its Postgres, and works', async () => {
    expect(await server.kill('SIGTERM')).toBe(0);
    const locks = (): string => readdirSync(join(settings['PALIMPSEST_DATA_DIR'] ?? '', 'lock')).join();
    const before = locks();
    const started = start();
    await until(() => locks() !== before);
    const [key] = await Promise.all([create('--tenant', 'initech'), started]);
    expect(await status('/v1/conversations', key.secret)).toBe(200);
  });

  it('is made in the database of DATABASE_URL, where one is named', async () => {
    const database: TestDatabase = await createTestDatabase();
    const env = {
      ...settings,
      ...newLog(),
      PALIMPSEST_DATA_DIR: join(folder.path, 'other'),
      DATABASE_URL: database.url,
    };
    const early = await palimpsest(['keys', 'create', '--tenant', 'acme'], env);
    expect(early).toMatchObject({ end: 1, out: '' });
    expect(early.err).toMatch(/^There is no installation in the database of DATABASE_URL yet\./);
    const other = new InstallationProcess(env);
    const otherUrl = await other.ready();
    const { out } = await palimpsest(['keys', 'create', '--tenant', 'acme', '--json'], env);
    const { secret } = JSON.parse(out) as NewKey;
    for (const key of [secret, keyIn(env.PALIMPSEST_DATA_DIR)]) {
      const answer = await fetch(`${otherUrl}/v1/conversations`, { headers: { authorization: `Bearer ${key}` } });
      expect(answer.status).toBe(200);
    }
    expect(await other.kill('SIGTERM')).toBe(0);
    await database.drop();
  });
});

describe('an answer to a wrong command', () => {
  it.each([
    [[], /^Usage: palimpsest /],
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['keys'], /^Usage: palimpsest keys /],
    [['keys', 'frobnicate'], /no verb 'frobnicate'/],
    [['keys', 'create'], /required option '--tenant <name>'[^]*See: palimpsest keys create --help/],
    [['keys', 'create', '--tenant'], /argument missing/],
    [['keys', 'create', '--tenant', ''], /^A tenant needs a name: --tenant NAME\.\n$/],
    [['keys', 'create', '--tenant', 'a', '--role', 'boss'], /^There is no role "boss"/],
    [['keys', 'create', '--tenant', 'a', 'more'], /too many arguments/],
    [['keys', 'revoke', 'one'], /^That is no id of a key/],
    [['demo', '--fast'], /unknown option '--fast'/],
  ])('%j: code 2, on standard error', async (args, said) => {
    const { end, out, err } = await palimpsest(args, settings);
    expect(err).toMatch(said);
    expect(err).not.toMatch(/^\s+at /m);
    expect({ end, out }).toEqual({ end: 2, out: '' });
  });
});

it.each([['--help'], ['keys', '--help'], ['keys', 'create', '--help'], ['demo', '--help']])(
  'shows help on standard output: %s %s %s',
  async (...args) => {
    const { end, out, err } = await palimpsest(args);
    expect({ end, err }).toEqual({ end: 0, err: '' });
    expect(out).toMatch(/^Usage: palimpsest/);
    if (args.length > 1) expect(out).toContain('Examples:\n  $ palimpsest');
  },
);

it('says in one sentence why it failed, with code 1, and makes nothing', async () => {
  const nowhere = join(folder.path, 'nowhere');
  const missing = await palimpsest(['keys', 'list'], { PALIMPSEST_DATA_DIR: nowhere });
  expect(missing).toEqual({
    end: 1,
    out: '',
    err: `There is no installation in ${nowhere} yet. Start it once with "npm start"; for one that lives elsewhere set PALIMPSEST_DATA_DIR or DATABASE_URL.\n`,
  });
  expect(existsSync(nowhere)).toBe(false);
  const wrong = await palimpsest(['keys', 'list'], { ...settings, PALIMPSEST_PORT: 'none' });
  expect(wrong).toEqual({
    end: 1,
    out: '',
    err: 'PALIMPSEST_PORT is "none"; it must be a whole number from 0 to 65535.\n',
  });
  const closed = await palimpsest(['keys', 'list'], { DATABASE_URL: 'postgres://a:secret@127.0.0.1:1/b' });
  expect(closed).toMatchObject({ end: 1, out: '' });
  expect(closed.err).toMatch(/^There is no connection to the database of DATABASE_URL: .*ECONNREFUSED.*\.\n$/);
  expect(closed.err).not.toMatch(/secret|^\s+at /m);
  expect(readdirSync(folder.path)).not.toContain('nowhere');
});
