import { createTestDatabase } from '../support/database';
import { killProjector } from './killed-projector';

it('P15, B06: killed 20 times at random instants, during load and rebuilds, the read models equal those built in one go, row by row', async () => {
  const database = await createTestDatabase();
  try {
    const { kills, events, swaps, faults } = await killProjector(database.url, 20, 1_000);
    expect(faults).toEqual([]);
    expect(kills).toBe(20);
    expect(events).toBeGreaterThanOrEqual(20_000);
    expect(swaps).toBeGreaterThan(0);
  } finally {
    await database.drop();
  }
}, 600_000);
