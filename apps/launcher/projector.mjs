/** `npm run start:projector`: makes the clone ready, then becomes a projector, in this very process, so that signals reach it. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap, root } from './bootstrap.mjs';

await bootstrap();
await import(pathToFileURL(join(root, 'dist', 'apps', 'projector', 'src', 'main.js')).href);
