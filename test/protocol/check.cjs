/**
 * Runs the protocol's checker from a shell, without a build.
 *   node test/protocol/check.cjs [S3 ...]            scenarios
 *   node test/protocol/check.cjs --mutate[=NAME]     the faults, or one
 *   node test/protocol/check.cjs --all               both
 * Exit code 1 if a scenario is violated or a fault is not caught.
 */
const { readFileSync } = require('node:fs');
const { resolve } = require('node:path');
const Module = require('node:module');
const { transformSync } = require('@swc/core');

const root = resolve(__dirname, '../..');
require.extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    module: { type: 'commonjs' },
  });
  module._compile(code, filename);
};
const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, ...rest) {
  const lib = /^@palimpsest\/([^/]+)$/.exec(request);
  return resolveFilename.call(this, lib ? resolve(root, 'libs', lib[1], 'src/index.ts') : request, ...rest);
};

const { runAll } = require('./run.ts');
const args = process.argv.slice(2);
const mutate = args.find((arg) => arg.startsWith('--mutate'));
const chosen = args.filter((arg) => !arg.startsWith('--'));
const all = args.includes('--all');
const one = mutate?.split('=')[1];
runAll({
  ...(all
    ? {}
    : {
        scenarios: mutate ? [] : chosen.length ? chosen : undefined,
        mutations: mutate ? (one ? [one] : undefined) : [],
      }),
  onLine: (line) => console.log(line),
}).then(({ ok }) => {
  process.exitCode = ok ? 0 : 1;
});
