/** `npm start`: makes the clone ready, then becomes the server, in this very process, so that signals reach it. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap();
await import(pathToFileURL(join(root, 'dist', 'apps', 'api', 'src', 'main.js')).href);
