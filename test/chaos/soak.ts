/**
 * `npm run test:soak`: turns of all kinds, kills at random instants, rounds of faults and flipped bits on both stores, random
 * histories, and the protocol's checker in full. Each part is left out by its 0:
 *   --added 100000 --projector-kills 200 --turns 10000 --conversations 100 --kills 200 --faults 1000 --flips 1000 --histories 20000 --protocol 1 --seed N
 * What went wrong is run again by the seed that the first line names.
 */
import { inspect, parseArgs } from 'node:util';
import { runAll } from '../protocol/run';
import { createTestDatabase } from '../support/database';
import { addProjection } from './added-projection';
import { runCrashes } from './crashes';
import { runFaultRounds } from './fault-rounds';
import type { StoreKind } from './fault-site';
import { runFlips } from './flips';
import { runHistories } from './histories';
import { killProjector } from './killed-projector';
import { randomSeed } from './luck';
import { startPostgres } from './postgres';
import { Progress } from './progress';
import { runTurns } from './soak-turns';

const given = parseArgs({
  options: {
    turns: { type: 'string', default: '10000' },
    conversations: { type: 'string', default: '100' },
    kills: { type: 'string', default: '200' },
    faults: { type: 'string', default: '1000' },
    'projector-kills': { type: 'string', default: '200' },
    added: { type: 'string', default: '100000' },
    flips: { type: 'string', default: '1000' },
    histories: { type: 'string', default: '20000' },
    protocol: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(randomSeed()) },
  },
}).values;

function whole(name: keyof typeof given): number {
  const value = Number(given[name]);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} is ${given[name]}; it must be a whole number.`);
}

/** Its summary, and sentences about what did not hold. */
interface Part {
  readonly summary: string;
  readonly faults: readonly string[];
}

async function turnsPart(turns: number, conversations: number, seed: number): Promise<Part> {
  const bar = new Progress('turns', turns);
  const report = await runTurns({ turns, conversations, seed, onProgress: (n, mib) => bar.at(n, `${mib} MiB`) });
  bar.end();
  const { nodes, requests, unsent, peakMiB, seconds, faults } = report;
  const replayed = `${nodes} nodes replay to their digests and to ${requests} captured requests (${unsent} never sent)`;
  return { summary: `${report.turns} turns in ${seconds} s, ${replayed}, at most ${peakMiB} MiB`, faults };
}

async function killsPart(kills: number, seed: number): Promise<Part> {
  const bar = new Progress('kills', kills);
  const report = await runCrashes({ kills, seed, onKill: (n) => bar.at(n) });
  bar.end();
  const { turns, takeovers, interrupted, effects, met, faults } = report;
  const found = Object.entries(met).map(([type, count]) => `${count} after ${type}`);
  const what = `${turns} turns, ${takeovers} takeovers, ${effects} effects, ${interrupted} calls interrupted`;
  return { summary: `${report.kills} kills (${found.join(', ')}): ${what}`, faults };
}

async function projectorPart(kills: number): Promise<Part> {
  const bar = new Progress('kills of the projector', kills);
  const postgres = await startPostgres();
  try {
    process.env['TEST_DATABASE_URL'] = postgres.adminUrl;
    const database = await createTestDatabase();
    const report = await killProjector(database.url, kills, 1_000, (n) => bar.at(n));
    bar.end();
    const { events, swaps, faults } = report;
    return { summary: `${kills} kills of the projector: ${events} events, ${swaps} rebuilds swapped in`, faults };
  } finally {
    await postgres.stop();
  }
}

async function addedPart(events: number): Promise<Part> {
  const postgres = await startPostgres();
  try {
    process.env['TEST_DATABASE_URL'] = postgres.adminUrl;
    const added = await addProjection(events, (text) => process.stdout.write(`${text}\n`));
    const { seconds, turns, longestTurnMs, longestBeforeMs, looks, writing, waits, faults } = added;
    const beside = `${turns} turns meanwhile, the longest ${longestTurnMs} ms (before: ${longestBeforeMs} ms)`;
    const locks = `pg_locks looked at ${looks} times, ${writing} of them with locks of theirs, ${waits.length} waits`;
    const summary = `projections added over ${added.events} events in ${Math.round(seconds)} s: ${beside}; ${locks}`;
    return { summary, faults: [...faults, ...waits.map((wait) => `waited for a projection: ${wait}`)] };
  } finally {
    await postgres.stop();
  }
}

async function faultsPart(store: StoreKind, rounds: number, seed: number): Promise<Part> {
  const bar = new Progress(`rounds of faults, log in ${store}`, rounds);
  const report = await runFaultRounds({ store, rounds, seed, onRound: (n, note) => bar.at(n, note) });
  bar.end();
  const { turns, events, takeovers, effects, befell, seconds, faults } = report;
  const what = Object.entries(befell).map(([kind, count]) => `${count} ${kind}`);
  const came = `${turns} turns, ${events} events, ${takeovers} takeovers, ${effects} effects`;
  return {
    summary: `${report.rounds} rounds of faults in ${store} in ${seconds} s (${what.join(', ')}): ${came}`,
    faults,
  };
}

async function flipsPart(store: StoreKind, places: number, seed: number): Promise<Part> {
  const bar = new Progress(`flipped bits in ${store}`, places);
  const faults = await runFlips({ store, places, seed, onFlip: (n) => bar.at(n) });
  bar.end();
  return { summary: `${places} flipped bits in ${store}`, faults };
}

async function historiesPart(histories: number, seed: number): Promise<Part> {
  const bar = new Progress('random histories', histories);
  const faults = await runHistories({ histories, seed, onProgress: (told) => bar.at(told) });
  bar.end();
  return { summary: `${histories} random histories, by the rules alone and through the whole write side`, faults };
}

async function protocolPart(): Promise<Part> {
  const { ok, lines } = await runAll({ onLine: (line) => process.stdout.write(`  ${line}\n`) });
  const faults = ok ? [] : lines.filter((line) => /VIOLATED|NOT CAUGHT/.test(line));
  return { summary: `the protocol's checker: ${lines.length} scenarios and faults`, faults };
}

async function main(): Promise<boolean> {
  const [turns, conversations, kills, rounds] = [
    whole('turns'),
    whole('conversations'),
    whole('kills'),
    whole('faults'),
  ];
  const [flips, histories, protocol, seed] = [whole('flips'), whole('histories'), whole('protocol'), whole('seed')];
  process.stdout.write(`seed ${seed}\n`);
  const parts: Part[] = [];
  if (turns) parts.push(await turnsPart(turns, conversations, seed));
  if (kills) parts.push(await killsPart(kills, seed));
  if (whole('projector-kills')) parts.push(await projectorPart(whole('projector-kills')));
  if (whole('added')) parts.push(await addedPart(whole('added')));
  // A fifth of the rounds with the log in Postgres: fewer kinds of faults make sense there.
  const onPostgres = Math.floor(rounds / 5);
  if (rounds) parts.push(await faultsPart('eventstoredb', rounds - onPostgres, seed));
  if (onPostgres) parts.push(await faultsPart('postgres', onPostgres, seed + rounds - onPostgres));
  for (const store of ['eventstoredb', 'postgres'] as const) if (flips) parts.push(await flipsPart(store, flips, seed));
  if (histories) parts.push(await historiesPart(histories, seed));
  if (protocol) parts.push(await protocolPart());
  const faults = parts.flatMap((part) => part.faults);
  for (const fault of faults) process.stdout.write(`does not hold: ${fault}\n`);
  process.stdout.write(`${parts.map(({ summary }) => summary).join('; ')}\n`);
  process.stdout.write(faults.length ? `${faults.length} things do not hold (seed ${seed})\n` : 'everything holds\n');
  return faults.length === 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
main().then(
  (holds) => process.exit(holds ? 0 : 1),
  (error: unknown) => {
    process.stderr.write(`${inspect(error)}\n`);
    process.exit(1);
  },
);
