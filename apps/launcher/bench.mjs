/**
 * `npm run bench`: makes the clone ready, then runs test/bench/main.ts in a plain Node of its own (Jest would be measured along).
 * The sources are read as they are, by the same hook that the tests' child processes use.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bootstrap, fail, root } from './bootstrap.mjs';

await bootstrap();
const bench = join(root, 'test', 'bench', 'main.ts');
if (!existsSync(bench)) fail('There is no bench in this clone: test/bench/main.ts is missing.');
const hook = join(root, 'test', 'support', 'ts.cjs');
const child = spawn(process.execPath, ['-r', hook, bench, ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.once('exit', (code) => process.exit(code ?? 1));
