import fc from 'fast-check';
import { type FoldCandidate, planFolds } from './plan';

const earlier = (toolCallId: string, saves: number): FoldCandidate => ({ toolCallId, saves, thisTurn: false });
const ours = (toolCallId: string, saves: number): FoldCandidate => ({ toolCallId, saves, thisTurn: true });

describe('which results are folded', () => {
  it.each([
    ['none where the request fits', 0, [earlier('a', 100)], []],
    ['the oldest of earlier turns first', 150, [earlier('a', 100), earlier('b', 100), earlier('c', 100)], ['a', 'b']],
    ['of this turn none that has room once earlier ones are folded', 90, [earlier('a', 100), ours('b', 100)], ['a']],
    ["this turn's oldest where the earlier ones are not enough", 150, [earlier('a', 100), ours('b', 100)], ['a', 'b']],
    ['only the one that can fit nowhere', 400, [earlier('a', 10), ours('b', 5), ours('c', 1000)], ['c']],
    ['none that is as short as its stand-in', 10, [ours('a', -5), ours('b', 0), ours('c', 20)], ['c']],
    ['all, where all are not enough', 1000, [earlier('a', 100), ours('b', 100)], ['a', 'b']],
  ] as const)('%s', (_rule, excess, candidates, folded) => {
    expect(planFolds(excess, candidates)).toEqual(folded);
  });

  const candidate = fc.record({ saves: fc.integer({ min: -20, max: 500 }), thisTurn: fc.boolean() });
  const candidates = fc.array(candidate, { maxLength: 12 }).map((all) =>
    // Of a path: this turn comes last.
    [...all]
      .sort((a, b) => Number(a.thisTurn) - Number(b.thisTurn))
      .map((one, at): FoldCandidate => ({ toolCallId: String(at), ...one })),
  );
  const savedBy = (all: readonly FoldCandidate[], ids: readonly string[]) =>
    all.filter(({ toolCallId }) => ids.includes(toolCallId)).reduce((sum, { saves }) => sum + saves, 0);

  it('makes a request fit wherever folding can, and folds no result that could have stayed', () => {
    fc.assert(
      fc.property(fc.integer({ min: -100, max: 3000 }), candidates, (excess, all) => {
        const folded = planFolds(excess, all);
        const saved = savedBy(all, folded);
        const useful = all.filter(({ saves }) => saves > 0);
        const most = savedBy(
          useful,
          useful.map(({ toolCallId }) => toolCallId),
        );
        if (excess <= most) expect(excess - saved).toBeLessThanOrEqual(0);
        else expect(folded).toHaveLength(useful.length);
        if (excess > most) return;
        for (const id of folded) expect(saved - savedBy(all, [id])).toBeLessThan(excess);
      }),
    );
  });

  it('folds a result of this turn only where all earlier ones, folded, would not be enough', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), candidates, (excess, all) => {
        const old = all.filter(({ thisTurn, saves }) => !thisTurn && saves > 0);
        const folded = planFolds(excess, all);
        if (
          savedBy(
            old,
            old.map(({ toolCallId }) => toolCallId),
          ) < excess
        )
          return;
        expect(all.filter(({ toolCallId, thisTurn }) => thisTurn && folded.includes(toolCallId))).toEqual([]);
      }),
    );
  });
});
