/**
 * Starts one real Postgres for all projects of a Jest run, and names it to the workers in TEST_DATABASE_URL. Set that variable
 * yourself to use a server of your own. TEST_POSTGRES_FSYNC=on for a server that keeps what it acknowledged.
 *
 * With TEST_STORE=eventstoredb it also starts one server of EventStoreDB's protocol for the logs of all installations, and names it in
 * EVENTSTORE_URL. Set that variable yourself to use a real server; what the tests wrote stays there.
 */
const { spawn } = require('node:child_process');
const { join } = require('node:path');

module.exports = async () => {
  const store = process.env.TEST_STORE;
  if (store && store !== 'eventstoredb') throw new Error(`TEST_STORE is ${store}; it must be eventstoredb, or unset.`);
  globalThis.__testServers ??= [];
  await provide('TEST_DATABASE_URL', 'postgres-server.ts', /^ready (\S+)\n/m);
  if (store) await provide('EVENTSTORE_URL', 'eventstoredb/main.ts', /^(esdb:\S+)\n/m);
};

/** The open pipe is what keeps the child alive; it must not keep Jest alive. */
async function provide(variable, program, ready) {
  if (process.env[variable]) return;
  const child = spawn(process.execPath, ['-r', join(__dirname, 'ts.cjs'), join(__dirname, program)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const url = await new Promise((done, fail) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      const found = ready.exec(text);
      if (found) done(found[1]);
    });
    child.once('error', fail);
    child.once('exit', () => fail(new Error(`The server for ${variable} did not start; the reason stands above.`)));
  });
  for (const handle of [child, child.stdin, child.stdout]) handle.unref();
  process.env[variable] = url;
  globalThis.__testServers.push({ child, variable });
}
