import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/child';
import { CliProcess, palimpsest, processesOn, until } from './cli-process';

jest.setTimeout(120_000);

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  folder = temporaryFolder();
});

/** However a demo ends, neither a file nor a process of it is left. */
afterEach(async () => {
  await until(() => processesOn(folder.path).length === 0);
  const left = readdirSync(folder.path);
  folder.remove();
  expect(left).toEqual([]);
});

const settings = (more: Readonly<Record<string, string>> = {}) => ({ TMPDIR: folder.path, ...more });
const serves = (): boolean => readdirSync(folder.path).length > 0 && processesOn(folder.path).length > 2;

it('tells the story on its own data, whatever is set for other installations, and ends with 0', async () => {
  const elsewhere = {
    PALIMPSEST_DATA_DIR: '/nowhere/at/all',
    PALIMPSEST_PORT: '1',
    PALIMPSEST_NO_SUCH_SETTING: '1',
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    OPENAI_API_KEY: 'none',
  };
  const { end, out, err } = await palimpsest(['demo'], settings(elsewhere));
  expect(err).toBe('');
  expect(out.match(/^\d {2}.*$/gm)).toEqual([
    '1  Ask',
    '2  Correct the question',
    '3  What the model saw for the new answer',
    '4  The tree',
    '5  Switch back and forth',
    '6  Replay every call',
    '7  A call fails, and nothing is paid for twice',
    '8  A playbook, and the conversation to edit it in',
    '9  What is valid now, in English and Korean',
  ]);
  expect(out).toContain('1. Hanbyeol Electronics    280,358.40');
  expect(out).toContain('1. Haneul Semicon          511,431.23');
  expect(out).toContain('budget: 20,000 [latest confirmed]  (~~10,000~~ [superseded])');
  expect(out).toContain('예산: 20,000 [최신 확인]  (~~10,000~~ [실효])');
  expect(out).toContain('All 32 checks hold.');
  expect(out).not.toMatch(/\u001b|✗/);
  expect(end).toBe(0);
});

it('gives machines one JSON document', async () => {
  const { end, out, err } = await palimpsest(['demo', '--json'], settings());
  expect(err).toBe('');
  const story = JSON.parse(out);
  expect(story).toMatchObject({ ok: true, failure: null, branches: [{ mark: '1/2' }, { mark: '2/2' }] });
  expect(story.steps.map(({ name }: { name: string }) => name)).toContain('Correct the question');
  expect(story.checks).toHaveLength(32);
  expect(story.checks.every(({ ok }: { ok: boolean }) => ok)).toBe(true);
  expect(story.figures.before).toHaveLength(10);
  expect(story.figures.after).toHaveLength(10);
  expect(story.digests).toHaveLength(4);
  for (const { recorded, computed, verified } of story.digests) {
    expect(recorded).toMatch(/^[0-9a-f]{64}$/);
    expect([computed, verified]).toEqual([recorded, true]);
  }
  expect(end).toBe(0);
});

it('ends with 1 where a replay is not what was recorded, and names it', async () => {
  const tamper = join(folder.path, 'tamper.cjs');
  // Between the server and the demo, so that the demo's own eyes must see it.
  const code = `
    const real = globalThis.fetch;
    globalThis.fetch = async (...args) => {
      const response = await real(...args);
      if (!/-2\\/replay$/.test(String(args[0])) || args[1].headers.accept !== 'application/octet-stream') return response;
      return new Response((await response.text()).replace('sales', 'sAles'), response);
    };`;
  writeFileSync(tamper, code);
  const demo = new CliProcess(['demo', '--json'], settings({ NODE_OPTIONS: `--require ${tamper}` }));
  const { end, out, err } = await demo.result();
  writeFileSync(tamper, '');
  await until(() => processesOn(folder.path).length === 0);
  expect(readdirSync(folder.path)).toEqual(['tamper.cjs']);
  rmSync(tamper);
  expect(err).toMatch(
    /^3 of 32 checks did not hold\.\nCall 2 of branch 1\/2 replays byte for byte: no\. Its bytes have/,
  );
  expect(err).not.toMatch(/^\s+at /m);
  const story = JSON.parse(out);
  expect(story.ok).toBe(false);
  expect(story.checks.filter(({ ok }: { ok: boolean }) => !ok).map(({ name }: { name: string }) => name)).toEqual([
    'Call 2 of branch 1/2 replays byte for byte',
    'Call 2 of branch 2/2 replays byte for byte',
    'The failed call and the new one replay byte for byte',
  ]);
  expect(end).toBe(1);
});

it('says in one sentence where it cannot keep its data', async () => {
  const nowhere = join(folder.path, 'nowhere');
  const { end, out, err } = await palimpsest(['demo', '--json'], { TMPDIR: nowhere });
  expect(err).toBe(
    `The demo cannot keep its data in ${nowhere} (ENOENT). Set TMPDIR to a folder that you may write to.\n`,
  );
  expect(JSON.parse(out)).toMatchObject({ ok: false, checks: [], failure: err.trim() });
  expect(end).toBe(1);
});

describe('leaves nothing behind', () => {
  /** It never comes to its second chapter: however slow the test is, it is met in the midst. */
  const code = `
    const real = globalThis.fetch;
    globalThis.fetch = (url, init) => /\\/edit$/.test(String(url))
      ? new Promise((_, reject) => init.signal.addEventListener('abort', () => reject(init.signal.reason)))
      : real(url, init);`;
  const elsewhere = temporaryFolder();
  const stuck = join(elsewhere.path, 'stuck.cjs');
  beforeAll(() => writeFileSync(stuck, code));
  afterAll(() => elsewhere.remove());
  const endless = (...args: readonly string[]) =>
    new CliProcess(['demo', ...args], settings({ NODE_OPTIONS: `--require ${stuck}` }));

  it('on Ctrl-C while its Postgres starts', async () => {
    const demo = endless();
    await until(serves);
    demo.signalGroup('SIGINT');
    expect(await demo.result()).toMatchObject({ end: 130, err: '' });
    expect(processesOn(folder.path)).toEqual([]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('on Ctrl-C in the midst of the story, also when pressed more than once', async () => {
    const demo = endless();
    await until(() => demo.out.includes('1  Ask'));
    for (const _ of [1, 2, 3]) demo.signalGroup('SIGINT');
    expect(await demo.result()).toMatchObject({ end: 130, err: '' });
    expect(processesOn(folder.path)).toEqual([]);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('on SIGTERM', async () => {
    const demo = endless('--json');
    await until(serves);
    demo.signal('SIGTERM');
    expect(await demo.result()).toMatchObject({ end: 143, out: '', err: '' });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('on kill -9: the server sees that it is alone', async () => {
    const demo = endless();
    await until(serves);
    demo.signal('SIGKILL');
    await until(() => processesOn(folder.path).length === 0 && readdirSync(folder.path).length === 0);
  });
});
