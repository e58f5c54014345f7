import fc from 'fast-check';
import { EARLY_FOLD_SAVES, type FoldCandidate, foldsFor, planFolds } from './plan';

const earlier = (toolCallId: string, saves: number): FoldCandidate => ({
  toolCallId,
  saves,
  thisTurn: false,
  seen: true,
});
const ours = (toolCallId: string, saves: number): FoldCandidate => ({ toolCallId, saves, thisTurn: true, seen: true });

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

  const candidate = fc.record({
    saves: fc.integer({ min: -20, max: 500 }),
    thisTurn: fc.boolean(),
    seen: fc.boolean(),
  });
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

  describe('before they must be', () => {
    const [a, b, c] = [earlier('a', 1000), earlier('b', 1000), ours('c', 1000)];
    const small = earlier('small', EARLY_FOLD_SAVES - 1);
    const unread: FoldCandidate = { ...earlier('unread', 1000), seen: false };
    const all = [a, small, b, unread, c];
    const pressure = { when: 'pressure', above: 7000, below: 6000 } as const;

    it('at a turn end: every result of the turns before that was answered, but for short ones', () => {
      const size = { tokens: 5000, cap: 10_000, begins: true };
      expect(foldsFor(size, all, { when: 'turn_end' })).toEqual(['a', 'b']);
      expect(foldsFor({ ...size, begins: false }, all, { when: 'turn_end' })).toEqual([]);
      expect(foldsFor(size, all)).toEqual([]);
    });

    it('at pressure: the oldest, in any round, until the request is as small as it is to be', () => {
      const size = { cap: 10_000, begins: false };
      expect(foldsFor({ ...size, tokens: 7000 }, all, pressure)).toEqual([]);
      expect(foldsFor({ ...size, tokens: 7001 }, all, pressure)).toEqual(['a', 'b']);
      expect(foldsFor({ ...size, tokens: 7001 }, all, { ...pressure, below: 6500 })).toEqual(['a']);
    });

    it('what must go goes besides: results that are short, unread or of this turn', () => {
      const size = { tokens: 12_900, cap: 10_000, begins: false };
      expect(foldsFor(size, all, pressure)).toEqual(['a', 'b', 'unread']);
      expect(foldsFor({ ...size, tokens: 13_100 }, all, { when: 'turn_end' })).toEqual(['a', 'small', 'b', 'unread']);
    });

    it('a request fits wherever folding can make it, whatever goes early', () => {
      const early = fc.constantFrom(
        { when: 'turn_end' } as const,
        { when: 'pressure', above: 700, below: 400 } as const,
      );
      fc.assert(
        fc.property(
          fc.integer({ min: 0, max: 4000 }),
          fc.boolean(),
          candidates,
          early,
          (tokens, begins, some, when) => {
            const folded = foldsFor({ tokens, cap: 1000, begins }, some, when);
            const must = planFolds(tokens - 1000, some);
            const left = tokens - savedBy(some, folded);
            if (tokens - savedBy(some, must) <= 1000) expect(left).toBeLessThanOrEqual(1000);
            expect(folded.filter((id) => (some.find(({ toolCallId }) => toolCallId === id)?.saves ?? 0) <= 0)).toEqual(
              [],
            );
          },
        ),
      );
    });
  });
});
