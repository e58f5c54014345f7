import { runCrashes } from '../chaos/crashes';
import { randomSeed } from '../chaos/luck';

jest.setTimeout(480_000);

it('T02, P08: killed ten times at random instants, it loses nothing acknowledged, writes nothing twice, and goes on', async () => {
  const seed = randomSeed();
  const report = await runCrashes({ kills: 10, seed });
  expect({ seed, faults: report.faults }).toEqual({ seed, faults: [] });
  expect(report.kills).toBe(10);
  expect(report.turns).toBeGreaterThanOrEqual(20);
  expect(report.effects).toBeGreaterThan(0);
});
