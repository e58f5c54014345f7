/**
 * Makes a clone ready to run: the right Node, the packages of the lock file, a build of the sources as they are. Plain Node without
 * dependencies, because it runs before anything is installed. It speaks on standard error; standard output belongs to what follows.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const needed = [20, 19];
const buildStamp = join(root, 'dist', '.built');

/** Ends the process with a sentence where the clone cannot be made ready. */
export async function bootstrap({ build = true } = {}) {
  process.chdir(root);
  checkNode();
  try {
    if (isReady(build)) return;
    await withLock(root, async () => {
      if (!isInstalled()) await install();
      if (build && !isBuilt()) await compile();
    });
  } catch (error) {
    fail(error.message);
  }
}

export function say(sentence) {
  process.stderr.write(`${sentence}\n`);
}

export function fail(sentence) {
  say(sentence);
  process.exit(1);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > needed[0] || (major === needed[0] && minor >= needed[1])) return;
  fail(
    `Palimpsest needs Node ${needed.join('.')} or newer, and this is Node ${process.versions.node}. Get one from https://nodejs.org.`,
  );
}

function isReady(build) {
  return isInstalled() && (!build || isBuilt());
}

/** Whether node_modules holds what the lock file names, as npm itself recorded when it was done. */
function isInstalled() {
  const recorded = readJson(join(root, 'node_modules', '.package-lock.json'));
  if (!recorded) return false;
  const wanted = readJson(join(root, 'package-lock.json'));
  return Object.entries(wanted.packages).every(([path, { version, integrity, optional, link }]) => {
    const there = recorded.packages[path];
    if (path === '' || link) return true;
    return there ? there.version === version && there.integrity === integrity : optional === true;
  });
}

/** The packages' own install scripts are not run: nothing here needs them, and newer npm blocks them anyway. */
async function install() {
  const flags = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const [program, ...first] = npm();
  await step(
    'Installing packages',
    program,
    [...first, ...flags],
    (output) =>
      `The packages could not be installed. npm says:\n${output}\nSee that this machine reaches the npm registry, then start again.`,
  );
}

/** The npm that runs us, else the one beside this Node, else any. */
function npm() {
  const running = process.env.npm_execpath;
  if (running && /npm-cli\.[cm]?js$/.test(running)) return [process.execPath, running];
  const beside = join(dirname(process.execPath), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js');
  return existsSync(beside) ? [process.execPath, beside] : ['npm'];
}

function isBuilt() {
  return existsSync(buildStamp) && readFileSync(buildStamp, 'utf8') === sourcesDigest();
}

async function compile() {
  const digest = sourcesDigest();
  // What an earlier build left would hide sources that are gone, and a broken off one may have left its list of files done.
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  await step(
    'Building',
    process.execPath,
    [nest, 'build', 'palimpsest'],
    (output) => `The sources could not be built:\n${output}`,
  );
  mkdirSync(dirname(buildStamp), { recursive: true });
  writeFileSync(buildStamp, digest);
}

/** Over names and contents of all that goes into a build: times say little after a checkout. */
function sourcesDigest() {
  const settings = ['package-lock.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json'];
  const folders = ['apps', 'libs'].flatMap((top) => readdirSync(join(root, top)).map((name) => join(top, name, 'src')));
  const sources = folders.filter((folder) => existsSync(join(root, folder))).flatMap(filesUnder);
  const hash = createHash('sha256');
  for (const file of [...settings, ...sources.sort()]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

function filesUnder(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesUnder(path);
    return /\.spec\.ts$/.test(entry.name) ? [] : [path];
  });
}

/** Runs one long step: says what it is, how long it took, and the end of its output where it failed. */
async function step(what, program, args, explain) {
  const began = Date.now();
  const seconds = () => `${Math.round((Date.now() - began) / 1000)} s`;
  const live = process.stderr.isTTY;
  process.stderr.write(`${what} ...${live ? '' : '\n'}`);
  const ticker = live && setInterval(() => process.stderr.write(`\r${what} ... ${seconds()}`), 1000);
  let output = '';
  const status = await new Promise((done) => {
    const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`;
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, PATH: path },
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.once('error', (error) => done(error.message));
    child.once('close', (code, signal) => done(signal ?? code));
  });
  clearInterval(ticker);
  process.stderr.write(`${live ? '\r' : ''}${what} ${status === 0 ? 'took' : 'failed after'} ${seconds()}.\n`);
  if (status !== 0) throw new Error(explain(output.trim().split('\n').slice(-30).join('\n') || String(status)));
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
