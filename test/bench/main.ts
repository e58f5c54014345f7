/** `npm run bench`: prints each measurement as a ratio within this run, and keeps them in results/<date>.json. `--json` prints them as JSON; named rows are measured alone and not kept. */
import { createLogger, startEmbeddedPostgres } from '@palimpsest/platform';
import { mkdirSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../support/child';
import { createTestDatabase } from '../support/database';
import { fullSizes, type RowName, rowNames, runBench, smallSizes } from './bench';
import { isMet, print } from './rows';

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      /** A quick look: few turns and nothing else, unless rows are named; nothing is kept. */
      small: { type: 'boolean', default: false },
      /** A folder for a CPU profile of the server. */
      profile: { type: 'string' },
    },
  });
  const rows = rowsNamed(positionals, values.small ? ['turns'] : rowNames);
  const say = (text: string): void => void (values.json || process.stderr.write(`${text}\n`));
  const folder = temporaryFolder();
  const log = createLogger('error');
  const [load = 0] = loadavg();
  // A turn passes through five processes and a commit through two: where others want the same cores, the turn waits more often.
  if (load > cpus().length)
    say(
      `This machine is busy (load ${load.toFixed(1)} on ${cpus().length} cores): turns will look slower than they are.`,
    );
  const postgres = await startEmbeddedPostgres({
    dataDir: folder.path,
    log,
    onLost: fail,
    settings: { max_connections: '200' },
  });
  process.env['TEST_DATABASE_URL'] = postgres.adminUrl;
  let over: Promise<void> | undefined;
  const end = () => (over ??= postgres.stop().then(() => folder.remove()));
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void end().then(() => process.exit(130), fail));
  try {
    const sizes = values.small ? smallSizes : fullSizes;
    const sections = await runBench(sizes, createTestDatabase, say, {
      profile: values.profile,
      rows,
    });
    const machine = {
      node: process.version,
      platform: platform(),
      arch: arch(),
      cpus: cpus().length,
      loadAtStart: load,
    };
    const at = new Date().toISOString();
    const report = {
      at,
      machine,
      sections: sections.map((s) => ({ ...s, rows: s.rows.map((row) => ({ ...row, met: isMet(row) })) })),
    };
    if (values.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    else process.stdout.write(`\n${sections.map(print).join('\n')}`);
    if (!values.small && !positionals.length) keep(at.slice(0, 10), report);
  } finally {
    await end();
  }
}

function rowsNamed(named: readonly string[], standard: readonly RowName[]): readonly RowName[] {
  const unknown = named.filter((name) => !(rowNames as readonly string[]).includes(name));
  if (unknown.length) throw new Error(`There are no rows ${unknown.join(', ')}. Name some of: ${rowNames.join(', ')}.`);
  return named.length ? rowNames.filter((name) => named.includes(name)) : standard;
}

function keep(date: string, report: object): void {
  const results = join(__dirname, 'results');
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, `${date}.json`), `${JSON.stringify(report, null, 2)}\n`);
}

function fail(error: Error): never {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

main().then(() => process.exit(0), fail);
