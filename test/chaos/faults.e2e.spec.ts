import { runFaultRounds } from './fault-rounds';
import { randomSeed } from './luck';

jest.setTimeout(600_000);

it.each([
  ['eventstoredb', 24],
  ['postgres', 6],
] as const)(
  'over random faults of a log in %s, %i rounds: nothing acknowledged is lost, nothing is there twice, and the read models equal a rebuild',
  async (store, rounds) => {
    const seed = randomSeed();
    const report = await runFaultRounds({ store, rounds, seed });
    expect({ seed, faults: report.faults }).toEqual({ seed, faults: [] });
    expect(report.rounds).toBe(rounds);
    expect(report.effects).toBeGreaterThan(0);
  },
);
