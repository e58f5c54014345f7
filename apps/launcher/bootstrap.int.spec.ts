import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../../test/support/child';

/** Stands in for npm, which would fetch the world: it does what `npm ci` leaves behind, not before it may, and keeps count. */
const npm = `
  const { appendFileSync, existsSync, mkdirSync, copyFileSync, rmSync, writeFileSync } = require('node:fs');
  appendFileSync('installs', process.argv.slice(2).join(' ') + '\\n');
  if (existsSync('no-network')) { console.error('npm error ENOTFOUND registry'); process.exit(1); }
  rmSync('node_modules', { recursive: true, force: true });
  mkdirSync('node_modules/@nestjs/cli/bin', { recursive: true });
  copyFileSync('nest.js', 'node_modules/@nestjs/cli/bin/nest.js');
  const end = () => existsSync('hold') ? setTimeout(end, 20) : copyFileSync('package-lock.json', 'node_modules/.package-lock.json');
  end();`;
const nest = `
  const { appendFileSync, existsSync, mkdirSync, writeFileSync } = require('node:fs');
  appendFileSync('builds', process.argv.slice(2).join(' ') + '\\n');
  if (existsSync('broken')) { console.log('error TS1005'); process.exit(1); }
  mkdirSync('dist/apps/api/src', { recursive: true });
  writeFileSync('dist/apps/api/src/main.js', "console.log('serving', process.argv.length)");`;

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  folder = temporaryFolder();
  cpSync(__dirname, at('apps/launcher'), { recursive: true });
  write('npm-cli.js', npm);
  write('nest.js', nest);
  for (const name of ['package.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json']) write(name, '{}');
  lock({ a: '1.0.0' });
  write('apps/api/src/main.ts', 'first');
  write('libs/some/src/index.ts', 'first');
});

afterEach(() => folder.remove());

const at = (path: string): string => join(folder.path, path);

function write(path: string, text: string): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
}

function lock(versions: Record<string, string>): void {
  const packages = Object.entries(versions).map(([name, version]) => [`node_modules/${name}`, { version }]);
  write('package-lock.json', JSON.stringify({ packages: { '': {}, ...Object.fromEntries(packages) } }));
}

function count(file: 'installs' | 'builds'): number {
  return existsSync(at(file)) ? readFileSync(at(file), 'utf8').trim().split('\n').length : 0;
}

/** `heard` is told all that stands on standard error, whenever more has come. */
async function start(
  heard: (err: string) => void = () => undefined,
): Promise<{ status: number; out: string; err: string }> {
  const env = { ...process.env, npm_execpath: at('npm-cli.js') };
  const child = spawn(process.execPath, [at('apps/launcher/start.mjs')], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => heard((err += String(chunk))));
  const [status] = (await once(child, 'close')) as [number];
  return { status, out, err };
}

describe('npm start', () => {
  it('installs and builds a fresh clone, saying what it does and for how long, and then is the server', async () => {
    const { status, out, err } = await start();
    expect([status, out]).toEqual([0, 'serving 2\n']);
    expect(err).toMatch(
      /^Installing packages \.\.\.\nInstalling packages took \d+ s\.\nBuilding \.\.\.\nBuilding took \d+ s\.\n$/,
    );
    expect(readFileSync(at('installs'), 'utf8')).toMatch(/^ci --include=dev --ignore-scripts/);
  });

  it('says and does nothing where all is there, without a network', async () => {
    await start();
    write('no-network', '');
    expect(await start()).toEqual({ status: 0, out: 'serving 2\n', err: '' });
    expect([count('installs'), count('builds')]).toEqual([1, 1]);
  });

  it('installs again where the lock file names another version, and builds again where a source changed', async () => {
    await start();
    write('libs/some/src/index.unit.spec.ts', 'a test is no source');
    await start();
    expect([count('installs'), count('builds')]).toEqual([1, 1]);
    write('libs/some/src/index.ts', 'second');
    await start();
    expect([count('installs'), count('builds')]).toEqual([1, 2]);
    lock({ a: '1.0.1' });
    await start();
    expect([count('installs'), count('builds')]).toEqual([2, 3]);
  });

  it('shows the reason of a failed install, and installs at the next start', async () => {
    write('no-network', '');
    const failed = await start();
    expect(failed.status).toBe(1);
    expect(failed.err).toContain('npm error ENOTFOUND registry\nSee that this machine reaches the npm registry');
    rmSync(at('no-network'));
    expect(await start()).toMatchObject({ status: 0 });
  });

  it('shows why a build failed, starts nothing old, and builds at the next start', async () => {
    await start();
    write('broken', '');
    write('apps/api/src/main.ts', 'broken');
    expect(await start()).toMatchObject({ status: 1, out: '', err: expect.stringContaining('error TS1005') });
    expect((await start()).status).toBe(1);
    rmSync(at('broken'));
    expect(await start()).toMatchObject({ status: 0 });
  });

  it('lets simultaneous starts install and build once, and serve all', async () => {
    write('hold', '');
    const waiting = new Set<number>();
    const starting = [1, 2, 3].map((one) =>
      start((err) => {
        if (err.includes('waiting for it')) waiting.add(one);
        if (waiting.size === 2) rmSync(at('hold'), { force: true });
      }),
    );
    const starts = await Promise.all(starting);
    expect(starts.map(({ status }) => status)).toEqual([0, 0, 0]);
    expect([count('installs'), count('builds')]).toEqual([1, 1]);
    expect(starts.filter(({ err }) => err.includes('waiting for it'))).toHaveLength(2);
  });
});
