/**
 * `npm run check`: types, lint, import rules, format and unit tests, two at a time, the long ones first. Each one's output is shown when it
 * is done; the run fails if any of them does. Random histories are fewer here than in `npm test`.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap({ build: false });

const checks = [
  { name: 'lint', script: 'lint' },
  { name: 'unit tests', script: 'unit' },
  { name: 'types', script: 'types' },
  { name: 'import rules', script: 'imports' },
  { name: 'format', script: 'format' },
];
const AT_ONCE = 2;
const { HISTORIES = '40' } = process.env;

const waiting = [...checks];
const failed = [];
await Promise.all(Array.from({ length: AT_ONCE }, work));
process.stdout.write(failed.length > 0 ? `Not right: ${failed.join(', ')}\n` : 'All right\n');
process.exit(failed.length > 0 ? 1 : 0);

async function work() {
  for (let check = waiting.shift(); check; check = waiting.shift()) {
    const began = Date.now();
    const { code, output } = await run(check.script);
    const seconds = Math.round((Date.now() - began) / 1000);
    process.stdout.write(`== ${check.name} (${seconds} s)${code === 0 ? '' : ': failed'}\n${output}`);
    if (code !== 0) failed.push(check.name);
  }
}

function run(script) {
  const npm = process.env.npm_execpath;
  const [program, ...first] = npm && /\.[cm]?js$/.test(npm) ? [process.execPath, npm] : ['npm'];
  const child = spawn(program, [...first, 'run', '--silent', script], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HISTORIES, PATH: `${join(root, 'node_modules', '.bin')}:${process.env.PATH}` },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((done) => child.once('close', (code) => done({ code: code ?? 1, output })));
}
