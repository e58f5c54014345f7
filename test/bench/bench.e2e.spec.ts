import { createTestDatabase } from '../support/database';
import { runBench, smallSizes } from './bench';

/** Small, and only what is the same on every machine: no time is judged here. */
describe('the bench, in small', () => {
  it('measures, and stores no more for a late turn than for an early one', async () => {
    const sizes = {
      ...smallSizes,
      points: [
        { turn: 1, around: 0, conversations: 2 },
        { turn: 10, around: 2, conversations: 1 },
        { turn: 34, around: 2, conversations: 1 },
      ],
      resultBytes: 20_000,
      warmUp: 1,
      more: 16,
      compact: true,
    };
    const sections = await runBench(sizes, createTestDatabase, () => undefined, { rows: ['turns'] });
    const [overhead, storage, replays] = sections.map(({ rows }) => rows);
    expect(overhead?.map(({ what }) => what)).toEqual([
      'turn 1: overhead to four bare commits',
      'turn 10: overhead to four bare commits',
      'turn 34: overhead to four bare commits',
      'turn 34 to turn 10, beyond what is sent',
    ]);
    expect(replays?.map(({ what }) => what)).toEqual([1, 10, 34].map((turn) => `turn ${turn}: replay to reading`));
    expect(sections.flatMap(({ rows }) => rows).filter(({ ratio }) => !(ratio > 0))).toEqual([]);
    // Of tables this small, free space is measured in whole pages and depends on the machine: without it they take less than the aim of 1.1
    // with it. The aim of 0.6 is not asked of so few pages.
    const ratioOf = (what: string) => storage?.find((row) => row.what === what)?.ratio ?? NaN;
    expect(ratioOf('all turns: log')).toBeLessThan(0.68);
    expect(ratioOf('all turns: log and read models')).toBeLessThan(0.88);
    expect(ratioOf('turn 34 to turn 10, each per new byte')).toBeLessThan(1.05);
  }, 120_000);

  it("an agent's requests hold every confirmed value, share most of the one before, and are a part of what sending everything takes", async () => {
    const sections = await runBench(smallSizes, createTestDatabase, () => undefined, { rows: ['contexts'] });
    const ratioOf = (what: string) => sections[0]?.rows.find((row) => row.what === what)?.ratio ?? NaN;
    const folds = 'folds at the end of a turn';
    expect(ratioOf(`${folds}: requests that hold every confirmed value`)).toBe(1);
    expect(ratioOf('folds at pressure: requests that hold every confirmed value')).toBe(1);
    expect(ratioOf(`${folds}: bytes outside the shared prefix to new ones`)).toBeLessThan(2.5);
    // A short conversation has less to leave out than one of forty turns, of which at most 0.35 is sent.
    expect(ratioOf(`${folds}: input to sending everything`)).toBeLessThan(0.6);
  }, 120_000);
});
