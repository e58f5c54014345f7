/** `node -r ./test/support/ts.cjs test/chaos/crash.ts [kills] [seed]`: the crash test alone, with a line for each kill. */
import { runCrashes } from './crashes';
import { randomSeed } from './luck';

const [kills = 10, seed = randomSeed()] = process.argv.slice(2).map(Number);
process.stdout.write(`${kills} kills, seed ${seed}\n`);
void runCrashes({ kills, seed, onKill: (done, found) => process.stdout.write(`${done} ${found}\n`) }).then(
  (report) => {
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    process.exit(report.faults.length ? 1 : 0);
  },
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
);
