/** `npm run demo`: makes the clone ready, then runs the verb `demo` of the command line; `--json` goes through. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap();
const main = join(root, 'dist', 'apps', 'cli', 'src', 'main.js');
process.argv.splice(1, 1, main, 'demo');
await import(pathToFileURL(main).href);
