import { randomSeed } from './luck';
import { runTurns } from './soak-turns';

jest.setTimeout(600_000);

it('P08: in 300 turns of every kind each node replays to its digest, byte for byte what came over the model’s socket', async () => {
  const seed = randomSeed();
  const report = await runTurns({ turns: 300, conversations: 12, seed });
  expect({ seed, faults: report.faults }).toEqual({ seed, faults: [] });
  expect(report.turns).toBe(300);
  expect(report.nodes).toBeGreaterThan(300);
});
