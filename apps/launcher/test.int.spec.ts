import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../../test/support/child';

/** Stands in for Jest: writes the results that the test planted, and ends as told. */
const fakeJest = `
  const { existsSync, readFileSync, writeFileSync } = require('node:fs');
  const planted = JSON.parse(readFileSync('planted.json', 'utf8'));
  const file = process.argv.find((argument) => argument.startsWith('--outputFile=')).slice(13);
  if (planted.results) writeFileSync(file, JSON.stringify(planted.results));
  console.error(process.argv.slice(2).filter((argument) => !argument.startsWith('--outputFile')).join(' '));
  process.exit(planted.status);`;

const results = {
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  numRuntimeErrorTestSuites: 0,
};

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  folder = temporaryFolder();
  cpSync(__dirname, join(folder.path, 'apps/launcher'), {
    recursive: true,
    filter: (path) => !path.endsWith('.spec.ts'),
  });
  for (const name of ['package-lock.json', 'node_modules/.package-lock.json']) write(name, '{"packages": {}}');
  write('node_modules/jest/bin/jest.js', fakeJest);
  write('libs/some/src/some.unit.spec.ts', `it('holds', () => undefined);`);
  write('test/nothing', '');
});

afterEach(() => folder.remove());

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder.path, path)), { recursive: true });
  writeFileSync(join(folder.path, path), text);
}

function run(planted: { status: number; results?: object }, CI = 'false') {
  write('planted.json', JSON.stringify(planted));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(folder.path, 'apps/launcher/test.mjs'), '--selectProjects', 'unit', '--', 'libs/some'],
    { env: { ...process.env, CI }, encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

describe('npm test', () => {
  it('hands its arguments to Jest and ends with the counts on a line of their own', () => {
    const { status, stdout, stderr } = run({ status: 0, results });
    expect([status, stdout]).toEqual([0, '3 passed, 0 failed\n']);
    expect(stderr.trim()).toBe('-c test/jest.config.cjs --json --selectProjects unit -- libs/some');
  });

  it.each([
    ['a test that failed', { status: 1, results: { ...results, numFailedTests: 1 } }, '3 passed, 1 failed\n'],
    [
      'a file that did not load',
      { status: 1, results: { ...results, numRuntimeErrorTestSuites: 1 } },
      '3 passed, 1 failed\n',
    ],
    ['a run without a test', { status: 0, results: { ...results, numPassedTests: 0 } }, '0 passed, 0 failed\n'],
    ['a run that left no results', { status: 0 }, '0 passed, 1 failed\n'],
    ['a Jest that ended badly after all passed', { status: 1, results }, '3 passed, 0 failed\n'],
  ])('fails for %s', (_, planted, line) => {
    expect(run(planted)).toMatchObject({ status: 1, stdout: line });
  });

  it('lets a person skip a test, and CI not', () => {
    const planted = { status: 0, results: { ...results, numPendingTests: 2 } };
    expect(run(planted)).toMatchObject({ status: 0, stdout: '3 passed, 0 failed, 2 skipped\n' });
    expect(run(planted, 'true')).toMatchObject({ status: 1, stdout: '3 passed, 0 failed, 2 skipped\n' });
  });

  it('finds a focused test that stands alone in its file, in CI', () => {
    write('libs/some/src/some.unit.spec.ts', ['it', `only('holds', () => undefined);`].join('.'));
    expect(run({ status: 0, results })).toMatchObject({ status: 0 });
    const { status, stderr } = run({ status: 0, results }, 'true');
    expect([status, stderr]).toEqual([1, expect.stringContaining('some.unit.spec.ts holds a focused test.')]);
  });
});
