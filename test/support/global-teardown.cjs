/** Lets go of the Postgres that global-setup.cjs started, and waits until it is gone. */
module.exports = async () => {
  const child = globalThis.__testPostgres;
  if (!child) return;
  globalThis.__testPostgres = undefined;
  delete process.env.TEST_DATABASE_URL;
  child.ref();
  const gone = child.exitCode === null && new Promise((done) => child.once('exit', done));
  child.stdin.end();
  await gone;
};
