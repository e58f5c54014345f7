import { addProjection } from './added-projection';

it('projections that are added over 5,000 old events give right answers while turns go on, and nobody waits for their locks', async () => {
  const { events, turns, looks, writing, waits, faults } = await addProjection(5_000);
  expect(waits).toEqual([]);
  expect(faults).toEqual([]);
  expect(events).toBeGreaterThanOrEqual(5_000);
  expect(turns).toBeGreaterThanOrEqual(5);
  expect(looks).toBeGreaterThan(writing);
  expect(writing).toBeGreaterThan(0);
}, 240_000);
