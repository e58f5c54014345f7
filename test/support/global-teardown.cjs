/** Lets go of the servers that global-setup.cjs started, and waits until they are gone. */
module.exports = async () => {
  const servers = globalThis.__testServers ?? [];
  globalThis.__testServers = [];
  await Promise.all(servers.map(leave));
};

async function leave({ child, variable }) {
  delete process.env[variable];
  child.ref();
  const gone = child.exitCode === null && new Promise((done) => child.once('exit', done));
  child.stdin.end();
  await gone;
}
