import { chmodSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startChild, temporaryFolder, type Child } from '../../../test/support/child';
import { openDataDir } from './data-dir';
import { AlreadyRunningError } from './data-lock';

const hold = `
  const { openDataDir } = require('@palimpsest/platform');
  try {
    const dir = openDataDir(process.argv[1]);
    dir.announce('http://127.0.0.1:3456');
    console.log('holds');
    setInterval(() => undefined, 1000);
  } catch (error) {
    console.log(error.message);
  }`;

let folder: ReturnType<typeof temporaryFolder>;
let data: string;
const children: Child[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  data = join(folder.path, 'data');
});

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill('SIGKILL')));
  folder.remove();
});

function holder(): Child {
  const child = startChild(hold, data);
  children.push(child);
  return child;
}

const newestLock = (): string => join(data, 'lock', String(Math.max(...readdirSync(join(data, 'lock')).map(Number))));

describe('openDataDir', () => {
  it('makes the folder for its owner alone', () => {
    openDataDir(data).release();
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(statSync(join(data, 'lock')).mode & 0o777).toBe(0o700);
    expect(statSync(newestLock()).mode & 0o777).toBe(0o600);
  });

  it('closes an empty folder that was there, and leaves one that holds other things as it is', () => {
    mkdirSync(data, { mode: 0o755 });
    openDataDir(data).release();
    expect(statSync(data).mode & 0o777).toBe(0o700);
    writeFileSync(join(folder.path, 'thesis.txt'), '');
    chmodSync(folder.path, 0o755);
    expect(() => openDataDir(folder.path)).toThrow(/holds other things .*Set PALIMPSEST_DATA_DIR to a folder/);
    expect(statSync(folder.path).mode & 0o777).toBe(0o755);
  });

  it('says in a sentence why a file cannot be the data directory', () => {
    writeFileSync(data, '');
    expect(() => openDataDir(data)).toThrow(`The data cannot live in ${data}: it is a file.`);
  });

  it('refuses a second start on the same data, and says where the first is', async () => {
    const first = holder();
    expect(await first.line()).toBe('holds');
    expect(await holder().line()).toBe(
      `Palimpsest is already running on the data in ${data} at http://127.0.0.1:3456 (pid ${first.pid}). Nothing was started.`,
    );
    expect(() => openDataDir(data)).toThrow(AlreadyRunningError);
  });

  it('takes over at once from a process killed with kill -9', async () => {
    const first = holder();
    await first.line();
    await first.kill('SIGKILL');
    openDataDir(data).release();
  });

  it('takes over after a release, in the same process too', () => {
    openDataDir(data).release();
    const again = openDataDir(data);
    expect(() => openDataDir(data)).toThrow(`pid ${process.pid}`);
    again.release();
  });

  it('takes over where the pid of the dead holder belongs to another process by now', async () => {
    openDataDir(data).release();
    const stale = { id: 'x', pid: process.pid, start: 'another boot 17', host: (await import('node:os')).hostname() };
    writeFileSync(newestLock(), JSON.stringify(stale));
    openDataDir(data).release();
  });

  it('gives a holder on another host 20 seconds of silence before it takes over', () => {
    openDataDir(data).release();
    writeFileSync(newestLock(), JSON.stringify({ id: 'x', pid: 7, start: '1', host: 'another-container' }));
    expect(() => openDataDir(data)).toThrow('(pid 7 on another-container, seen in the last 20 s)');
    const earlier = new Date(Date.now() - 21_000);
    utimesSync(newestLock(), earlier, earlier);
    openDataDir(data).release();
  });

  it('lets one of many simultaneous starts win, on new data and on what a killed process left', async () => {
    for (let round = 0; round < 3; round += 1) {
      const starts = Array.from({ length: 5 }, holder);
      const said = await Promise.all(starts.map((child) => child.line()));
      expect(said.filter((line) => line === 'holds')).toHaveLength(1);
      await Promise.all(children.splice(0).map((child) => child.kill('SIGKILL')));
    }
  });
});
