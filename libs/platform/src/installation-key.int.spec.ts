import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../test/support/child';
import { openDataDir, type DataDir } from './data-dir';
import { loadInstallationKey, loadInstallationKeys, prependInstallationKey } from './installation-key';

let folder: ReturnType<typeof temporaryFolder>;
let dataDir: DataDir;
const none = { masterKeyFile: undefined };

beforeEach(() => {
  folder = temporaryFolder();
  dataDir = openDataDir(join(folder.path, 'data'));
});

afterEach(() => {
  dataDir.release();
  folder.remove();
});

it('makes a key at the first start, in a file for its owner alone, and gives the same ever after', () => {
  const key = loadInstallationKey(none, dataDir);
  expect(key).toHaveLength(32);
  expect(loadInstallationKey(none, dataDir).equals(key)).toBe(true);
  expect(statSync(dataDir.file('master-key')).mode & 0o777).toBe(0o600);
  expect(Buffer.from(readFileSync(dataDir.file('master-key'), 'utf8'), 'base64').equals(key)).toBe(true);
});

it('refuses to make a new key beside data that an older one sealed', () => {
  loadInstallationKey(none, dataDir);
  mkdirSync(dataDir.file('postgres'));
  rmSync(dataDir.file('master-key'));
  expect(() => loadInstallationKey(none, dataDir)).toThrow('master-key is missing, and without it nothing');
});

it('takes the key from the file that the operator named, and makes none there', () => {
  const masterKeyFile = join(folder.path, 'key');
  expect(() => loadInstallationKey({ masterKeyFile }, dataDir)).toThrow(
    /cannot be read \(ENOENT\)\. Make one with: openssl/,
  );
  writeFileSync(masterKeyFile, `${Buffer.alloc(32, 7).toString('base64')}\n`);
  expect(loadInstallationKey({ masterKeyFile }, dataDir).equals(Buffer.alloc(32, 7))).toBe(true);
});

it.each(['', 'short', 'A'.repeat(44), '{"key": 1}'])('refuses a file that holds %j, without showing it', (text) => {
  const masterKeyFile = join(folder.path, 'key');
  writeFileSync(masterKeyFile, text);
  const load = (): Buffer => loadInstallationKey({ masterKeyFile }, dataDir);
  expect(load).toThrow(/does not hold a key: it must be 32 bytes as base64/);
});

it('takes a new key before the others, and keeps those for what they wrap', () => {
  const [first] = loadInstallationKeys(none, dataDir);
  prependInstallationKey(dataDir.file('master-key'), Buffer.alloc(32, 7));
  expect(loadInstallationKeys(none, dataDir)).toEqual([Buffer.alloc(32, 7), first]);
  expect(statSync(dataDir.file('master-key')).mode & 0o777).toBe(0o600);
});
