/** `node -r ./test/support/ts.cjs test/chaos/faults.ts [eventstoredb|postgres] [rounds] [seed]`: the rounds of faults alone. */
import { runFaultRounds } from './fault-rounds';
import { randomSeed } from './luck';

const [store = 'eventstoredb', ...numbers] = process.argv.slice(2);
const [rounds = 10, seed = randomSeed()] = numbers.map(Number);
process.stdout.write(`${rounds} rounds, seed ${seed}\n`);
const began = performance.now();
const onRound = (done: number, note: string) =>
  process.stdout.write(`${done} at ${Math.round(performance.now() - began)} ms, ${note}\n`);
void runFaultRounds({ store: store === 'postgres' ? store : 'eventstoredb', rounds, seed, onRound }).then(
  (report) => {
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    process.exit(report.faults.length ? 1 : 0);
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  },
);
