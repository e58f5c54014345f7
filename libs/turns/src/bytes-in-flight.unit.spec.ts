import fc from 'fast-check';
import { setTimeout as sleep } from 'node:timers/promises';
import { BytesInFlight } from './bytes-in-flight';

describe('bytes in flight', () => {
  it('never pass the limit, unless by one piece of work alone, and all work is done in the order in which it came', async () => {
    const sizes = fc.array(fc.nat(15), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(sizes, async (all) => {
        const bound = new BytesInFlight(10);
        const running: number[] = [];
        const begun: number[] = [];
        await Promise.all(
          all.map((bytes, n) =>
            bound.hold(bytes, async () => {
              begun.push(n);
              running.push(bytes);
              const sum = running.reduce((total, one) => total + one, 0);
              expect(sum <= 10 || running.filter((one) => one > 0).length === 1).toBe(true);
              await sleep(0);
              running.splice(running.indexOf(bytes), 1);
            }),
          ),
        );
        expect(begun).toEqual(all.map((_, n) => n));
      }),
      { numRuns: 50 },
    );
  });

  it('are given back by work that fails', async () => {
    const bound = new BytesInFlight(10);
    await expect(bound.hold(10, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await expect(bound.hold(10, async () => 'done')).resolves.toBe('done');
  });
});
