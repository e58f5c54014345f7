/**
 * Lets plain Node run this repo's TypeScript: `node -r ./test/support/ts.cjs some-file.ts`. For child processes of tests and for the
 * bench, which must run outside Jest. The same SWC settings as Jest uses; types are checked by `npm run check`.
 */
const { existsSync, readFileSync } = require('node:fs');
const Module = require('node:module');
const { join, resolve } = require('node:path');
const { transformSync } = require('@swc/core');

const root = resolve(__dirname, '..', '..');
const settings = JSON.parse(readFileSync(join(root, '.swcrc'), 'utf8'));

Module._extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), { ...settings, swcrc: false, filename });
  module._compile(code, filename);
};

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  const alias = /^@palimpsest\/([^/]+)(?:\/(testing|contract))?$/.exec(request);
  const found = alias ? aliased(alias[1], alias[2] ?? 'src') : request;
  return resolveFilename.call(this, found, ...rest);
};

function aliased(lib, folder) {
  const file = join(root, 'libs', lib, folder, 'index.ts');
  return existsSync(file) ? file : join(root, 'libs', lib, folder);
}
