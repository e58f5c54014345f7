/** `npm run test:soak`: makes the clone ready, then runs test/chaos/soak.ts from the sources; arguments go through. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap({ build: false });
const hook = join(root, 'test', 'support', 'ts.cjs');
const soak = join(root, 'test', 'chaos', 'soak.ts');
const child = spawn(process.execPath, ['-r', hook, soak, ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.once('exit', (code) => process.exit(code ?? 1));
