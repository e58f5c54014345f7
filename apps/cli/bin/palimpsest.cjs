#!/usr/bin/env node
/** The command line, as built. */
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const main = join(__dirname, '..', '..', '..', 'dist', 'apps', 'cli', 'src', 'main.js');
if (!existsSync(main)) {
  process.stderr.write('Palimpsest is not built yet. Run "npm start" once, or "npm run build".\n');
  process.exit(1);
}
require(main);
