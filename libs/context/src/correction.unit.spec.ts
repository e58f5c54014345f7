import fc from 'fast-check';
import { CALLS_COMPARED, correctionOf, LEAST_CORRECTION, MOST_CORRECTION } from './correction';

const call = (counted: number, reported: number) => ({ counted, reported });

describe('the correction of a count', () => {
  it('is none before a call was reported', () => {
    expect(correctionOf([])).toBe(1);
    expect(correctionOf([call(5_000, 0)])).toBe(1);
  });

  it('is that of the last calls which were underrated most', () => {
    expect(correctionOf([call(10_000, 11_000), call(12_000, 12_500)])).toBe(1.1);
    const since = Array.from({ length: CALLS_COMPARED }, () => call(20_000, 20_000));
    expect(correctionOf([call(10_000, 15_000), ...since])).toBe(1);
  });

  it('takes no short request for a measure: what a provider adds to each would be most of it', () => {
    expect(correctionOf([call(100, 450), call(20_000, 21_000)])).toBe(1.05);
    expect(correctionOf([call(100, 450)])).toBe(1);
  });

  it('stays within its bounds whatever is reported', () => {
    const counts = fc.array(fc.record({ counted: fc.nat(2_000_000), reported: fc.nat(2_000_000) }));
    fc.assert(
      fc.property(counts, (calls) => {
        const correction = correctionOf(calls);
        expect(correction).toBeGreaterThanOrEqual(LEAST_CORRECTION);
        expect(correction).toBeLessThanOrEqual(MOST_CORRECTION);
        expect(correctionOf(structuredClone(calls))).toBe(correction);
      }),
    );
  });
});
