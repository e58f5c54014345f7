/**
 * Starts one real Postgres for all projects of a Jest run, and names it to the workers in TEST_DATABASE_URL. Set that variable
 * yourself to use a server of your own. TEST_POSTGRES_FSYNC=on for a server that keeps what it acknowledged.
 */
const { spawn } = require('node:child_process');
const { join } = require('node:path');

module.exports = async () => {
  if (process.env.TEST_DATABASE_URL) return;
  const child = spawn(process.execPath, ['-r', join(__dirname, 'ts.cjs'), join(__dirname, 'postgres-server.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const url = await new Promise((done, fail) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      const ready = /^ready (\S+)\n/m.exec(text);
      if (ready) done(ready[1]);
    });
    child.once('error', fail);
    child.once('exit', () => fail(new Error('The Postgres of the tests did not start; the reason stands above.')));
  });
  // The open pipe is what keeps the child alive; it must not keep Jest alive.
  for (const handle of [child, child.stdin, child.stdout]) handle.unref();
  process.env.TEST_DATABASE_URL = url;
  globalThis.__testPostgres = child;
};
