/** One at a time per clone: two that install or build at once would pull the files away from under each other. */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Nothing that holds it takes that long, so by then a pid that lives belongs to another program. */
const longestMs = 30 * 60_000;

export async function withLock(root, work) {
  const name = createHash('sha256').update(root).digest('hex').slice(0, 12);
  const path = join(tmpdir(), `palimpsest-bootstrap-${userInfo().uid}-${name}.lock`);
  const mine = `${process.pid}`;
  for (let told = false; !take(path, mine); told = true) {
    if (!told) process.stderr.write('Another start is installing or building this clone; waiting for it.\n');
    await new Promise((wait) => setTimeout(wait, 300));
  }
  const release = () => rmSync(path, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

function take(path, mine) {
  try {
    writeFileSync(path, mine, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const holder = staleHolder(path);
  if (holder === undefined) return false;
  // Of two that find it stale only one can rename it away; should that have been a fresh one after all, it goes back.
  const aside = `${path}.${mine}`;
  try {
    renameSync(path, aside);
    if (readFileSync(aside, 'utf8') === holder) rmSync(aside);
    else renameSync(aside, path);
  } catch {
    // Somebody else was faster.
  }
  return false;
}

/** What the file of a dead holder says. Undefined: its holder lives or writes it at this moment, or it is gone. */
function staleHolder(path) {
  try {
    const age = Date.now() - statSync(path).mtimeMs;
    const text = readFileSync(path, 'utf8');
    const stale = text === '' ? age > 5_000 : age > longestMs || !lives(Number(text));
    return stale ? text : undefined;
  } catch {
    return undefined;
  }
}

function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
