/**
 * `npm test`: makes the clone ready, runs Jest with the arguments given, and ends with one plain line, `N passed, N failed`. A run
 * without a test has failed, and with CI=true so has one in which a test was skipped or focused. `--store=eventstoredb` has the tests of the
 * kind e2e keep their logs on a server of EventStoreDB's protocol.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootstrap, root, say } from './bootstrap.mjs';

const STORE = '--store=';
const given = process.argv.slice(2).filter((argument) => !argument.startsWith(STORE));
const store = process.argv.find((argument) => argument.startsWith(STORE))?.slice(STORE.length);
const strict = process.env.CI === 'true';

await bootstrap({ build: startsRealProcesses() });
const { status, results } = await runJest();
const counts = count(results);
const complaints = [
  counts.passed + counts.failed === 0 && 'No test ran.',
  strict && counts.skipped > 0 && `${counts.skipped} tests were skipped, or left out because another is focused.`,
  strict &&
    focused()
      .map((file) => `${file} holds a focused test.`)
      .join('\n'),
].filter(Boolean);
complaints.forEach(say);
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`);
process.exit(status === 0 && counts.failed === 0 && complaints.length === 0 ? 0 : 1);

/** Tests of the kind e2e run what was built; the others run the sources. */
function startsRealProcesses() {
  const from = given.findIndex((argument) => argument.startsWith('--selectProjects'));
  return from === -1 || given.slice(from).some((argument) => argument.includes('e2e'));
}

async function runJest() {
  const folder = mkdtempSync(join(tmpdir(), 'palimpsest-jest-'));
  const outputFile = join(folder, 'results.json');
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const own = ['-c', 'test/jest.config.cjs', '--json', `--outputFile=${outputFile}`, ...(strict ? ['--ci'] : [])];
  const child = spawn(process.execPath, [jest, ...own, ...given], {
    cwd: root,
    stdio: ['inherit', 'ignore', 'inherit'],
    env: { ...process.env, ...(store && { TEST_STORE: store }) },
  });
  // Ctrl-C reaches Jest by itself; this process waits for it and then says how far it came.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const status = await new Promise((done) => child.once('exit', (code) => done(code ?? 1)));
  const results = readResults(outputFile);
  rmSync(folder, { recursive: true, force: true });
  return { status, results };
}

function readResults(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** A file that did not get as far as its tests counts as one that failed; so does a run that left no results. */
function count(results) {
  if (!results) return { passed: 0, failed: 1, skipped: 0 };
  return {
    passed: results.numPassedTests,
    failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
    skipped: results.numPendingTests + results.numTodoTests,
  };
}

/** Jest does not tell a focused test that stands alone in its file from any other. */
function focused() {
  const files = ['apps', 'libs', 'test'].flatMap((folder) => specs(join(root, folder)));
  return files.filter((file) =>
    /^\s*(?:fit|fdescribe|(?:it|test|describe)(?:\.\w+)*\.only)\b/m.test(readFileSync(file, 'utf8')),
  );
}

function specs(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return specs(path);
    return /\.spec\.ts$/.test(entry.name) ? [path] : [];
  });
}
