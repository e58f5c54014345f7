import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InstallationProcess, keyIn } from '../chaos/installation-process';
import { temporaryFolder } from '../support/child';
import { Client } from '../support/client';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { palimpsest } from './cli-process';
import { Pool } from 'pg';

jest.setTimeout(120_000);

let folder: ReturnType<typeof temporaryFolder>;
let database: TestDatabase;
let admin: Pool;
let settings: Record<string, string>;
let server: InstallationProcess;
let client: Client;
let conversationId: string;

beforeAll(async () => {
  folder = temporaryFolder();
  database = await createTestDatabase();
  admin = new Pool({ connectionString: database.url });
  settings = {
    DATABASE_URL: database.url,
    PALIMPSEST_DATA_DIR: join(folder.path, 'data'),
    PALIMPSEST_PORT: '0',
    PALIMPSEST_ANCHOR_FILE: join(folder.path, 'anchors.jsonl'),
    PALIMPSEST_ANCHOR_INTERVAL_MS: '300',
  };
  server = new InstallationProcess(settings);
  const url = await server.ready();
  client = new Client(url, keyIn(settings['PALIMPSEST_DATA_DIR'] as string));
  conversationId = await client.conversation();
  for (const text of ['one', 'two', 'three']) await client.ask(conversationId, text);
});

afterAll(async () => {
  await server.kill('SIGTERM');
  await admin.end();
  await database.drop();
  folder.remove();
});

const run = (...args: readonly string[]) => palimpsest(args, settings);

async function verified(...args: readonly string[]) {
  const { end, out, err } = await run('verify', '--json', ...args);
  return {
    end,
    err,
    report: JSON.parse(out) as { ok: boolean; faults: Record<string, unknown>[] } & Record<string, unknown>,
  };
}

describe('the log of a running installation', () => {
  it('is anchored at intervals and on demand, inside and outside, and verifies with every request', async () => {
    const anchor = await run('anchor');
    expect(anchor).toMatchObject({ end: 0, err: '' });
    const { end, err, report } = await verified();
    expect({ end, err, faults: report.faults }).toEqual({ end: 0, err: '', faults: [] });
    expect(report).toMatchObject({ ok: true, requests: 3, keyLost: 0, sealed: 0 });
    expect(report['anchored']).toMatchObject({ keys: [{ id: expect.stringMatching(/^anchor-[0-9a-f]{16}$/) }] });
    expect(report['outside']).toMatchObject({ to: (report['anchored'] as { to: string }).to });
    expect(statSync(join(settings['PALIMPSEST_DATA_DIR'] as string, 'signing-key')).mode & 0o777).toBe(0o600);
    const one = await run('verify', '--conversation', conversationId);
    expect(one).toMatchObject({ end: 0, err: '' });
    expect(one.out).toMatch(/^Sound: \d+ events up to position \d+\.\nOpened \d+; 0 erased; 0 payloads; 3 requests/);
  });

  it('says which event was changed, with exit code 1, and usage mistakes have 2', async () => {
    const flip = `update event_log.events set data = set_bit(data, 99, 1 - get_bit(data, 99))
                  where position = (select min(position) from event_log.events where type = 'CallSucceeded') returning id::text`;
    const { rows } = await admin.query<{ id: string }>(flip);
    const { end, report } = await verified();
    expect(end).toBe(1);
    expect(report.faults).toMatchObject([
      { kind: 'changed', stream: `conversation-${conversationId}`, id: rows[0]?.id },
    ]);
    const text = await run('verify', '--conversation', conversationId);
    expect(text).toMatchObject({
      end: 1,
      out: expect.stringContaining(`CHANGED  conversation-${conversationId}  revision`),
    });
    await admin.query(flip);
    for (const args of [['--conversation', 'x'], ['--what']]) expect((await run('verify', ...args)).end).toBe(2);
  });

  it('goes on anchoring under a new signing key, and both are trusted', async () => {
    const rotated = await run('keys', 'rotate-signing');
    expect(rotated).toMatchObject({ end: 0, out: expect.stringMatching(/^Anchors are signed by anchor-/) });
    await client.ask(conversationId, 'four');
    await run('anchor');
    const { report } = await verified();
    expect(report.faults).toEqual([]);
    expect((report['anchored'] as { keys: unknown[] }).keys).toHaveLength(2);
  });

  it('is read on by the running server while its installation key is rotated, and no event changes', async () => {
    const digests =
      "select string_agg(md5(data), '' order by position) as all from event_log.events where position < 20";
    const before = (await admin.query(digests)).rows;
    const fresh = join(folder.path, 'new-key');
    expect((await run('keys', 'rotate')).end).toBe(2);
    writeFileSync(fresh, randomBytes(32).toString('base64'));
    const { end, out, err } = await run('keys', 'rotate', '--new-key-file', fresh);
    expect({ end, err }).toEqual({ end: 0, err: '' });
    expect(out).toMatch(/^Wrapped [1-9]\d* keys anew under installation-[0-9a-f]{16}\.\nNothing is left/);
    const other = await client.conversation();
    await client.ask(other, 'after the rotation');
    await client.ask(conversationId, 'and here');
    expect(await run('keys', 'rotate')).toMatchObject({ end: 0, out: expect.stringMatching(/^Wrapped 0 keys/) });
    const file = join(settings['PALIMPSEST_DATA_DIR'] as string, 'master-key');
    writeFileSync(file, `${readFileSync(file, 'utf8').split('\n')[0]}\n`);
    expect((await verified()).report).toMatchObject({ ok: true, keyLost: 0 });
    expect((await admin.query(digests)).rows).toEqual(before);
    appendFileSync(file, '\n');
  });

  it('shows a log that was cut off with its anchors against the file outside', async () => {
    await run('anchor');
    await server.kill('SIGTERM');
    const from = `(select max(position) - 4 from event_log.events)`;
    await admin.query(`create table cut as select position from event_log.events where position > ${from}`);
    await admin.query(`delete from event_log.events where position in (select position from cut)`);
    const { end, report } = await verified();
    expect(end).toBe(1);
    expect(report.faults.map(({ kind }) => kind)).toContain('cut_off');
  });
});
