import type { ContextChoice } from '@palimpsest/assistant';
import fc from 'fast-check';
import type { PathTurn } from '../compaction/runs';
import { planRoom, planSegment, roomBefore, verbatimOf } from './plan';

const off: ContextChoice = {
  window: null,
  pressure: null,
  folds: null,
  summaries: { maxTokens: 50, totalTokens: 300 },
};
const turn = (at: number, more: Partial<PathTurn> = {}): PathTurn => ({
  ...{ lastNode: `n${at}`, tokens: 100, messages: 2, whole: true },
  ...more,
});
const pathOf = (count: number, more: Partial<PathTurn> = {}) => ({
  fixed: 100,
  turns: Array.from({ length: count }, (_, at) => turn(at + 1, more)),
});
const mayEnd = ({ whole }: PathTurn) => whole;
const limits = { cap: 1_000, more: 0, mayEnd };

describe('the window', () => {
  const window = (messages: number, keep: number): ContextChoice => ({ ...off, window: { messages, keep } });

  it('is cut when 24 messages have gathered, and 12 of them stay', () => {
    expect(planSegment(pathOf(11), window(24, 12), limits)).toBeUndefined();
    expect(planSegment(pathOf(12), window(24, 12), limits)).toEqual({ upTo: 'n6', reason: 'window' });
  });

  it('I02: of thirty messages that are cut to twelve the last twelve stay: 19 to 30', () => {
    const path = pathOf(15);
    const plan = planSegment(path, window(30, 12), limits);
    const cut = path.turns.findIndex(({ lastNode }) => lastNode === plan?.upTo);
    expect(path.turns.slice(0, cut + 1).reduce((sum, { messages }) => sum + messages, 0)).toBe(18);
  });

  it('gathers behind the last summary alone', () => {
    const standsFor = { kind: 'summary', nodeId: 's1' } as const;
    const path = { ...pathOf(11), turns: [turn(0, { standsFor, messages: 0 }), ...pathOf(11).turns] };
    expect(planSegment(path, window(24, 12), limits)).toBeUndefined();
    expect(verbatimOf(path)).toHaveLength(11);
    const longer = { ...path, turns: [...path.turns, turn(12)] };
    expect(planSegment(longer, window(24, 12), limits)).toEqual({ upTo: 'n6', reason: 'window' });
  });

  it('is cut behind a turn that a summary may end with, and keeps more where that is farther back', () => {
    const turns = pathOf(12).turns.map((one, at) => (at === 5 || at === 4 ? { ...one, whole: false } : one));
    expect(planSegment({ fixed: 100, turns }, window(24, 12), limits)).toEqual({ upTo: 'n4', reason: 'window' });
  });

  it('is cut in front of a compaction that was expanded, and behind it once all before has left', () => {
    const turns = pathOf(12).turns.map((one, at) => (at === 3 ? { ...one, apart: true as const } : one));
    expect(planSegment({ fixed: 100, turns }, window(24, 12), limits)).toEqual({ upTo: 'n3', reason: 'window' });
    const left = { fixed: 100, turns: turns.slice(3) };
    expect(planSegment(left, window(18, 12), limits)).toEqual({ upTo: 'n6', reason: 'window' });
  });

  it('counts a question without an answer as one message', () => {
    expect(planSegment(pathOf(23, { messages: 1 }), window(24, 12), limits)).toBeUndefined();
    expect(planSegment(pathOf(24, { messages: 1 }), window(24, 12), limits)).toMatchObject({ upTo: 'n12' });
  });
});

describe('pressure', () => {
  const pressure: ContextChoice = { ...off, pressure: { above: 0.7, below: 0.4 } };

  it('begins at 70 % of the input cap, and as many of the oldest turns leave as bring it down to 40 %', () => {
    expect(planSegment(pathOf(5), pressure, limits)).toBeUndefined();
    expect(roomBefore(pathOf(5), pressure, 1_000)).toBeCloseTo(100);
    expect(planSegment(pathOf(5), pressure, { ...limits, more: 100 })).toMatchObject({ upTo: 'n4' });
    expect(planSegment(pathOf(8), pressure, limits)).toEqual({ upTo: 'n6', reason: 'pressure' });
  });

  it('leaves the last turn, and does nothing where no summary could help', () => {
    expect(planSegment(pathOf(3, { tokens: 300 }), pressure, limits)).toMatchObject({ upTo: 'n2' });
    expect(planSegment(pathOf(1, { tokens: 900 }), pressure, limits)).toBeUndefined();
    expect(planSegment({ ...pathOf(8), fixed: 800 }, pressure, limits)).toBeUndefined();
    expect(planSegment(pathOf(2, { tokens: 40 }), pressure, { ...limits, cap: 200 })).toBeUndefined();
  });
});

it('so many turns leave together, as soon as another one is behind them', () => {
  const choice: ContextChoice = { ...off, everyTurns: 3 };
  expect(planSegment(pathOf(3), choice, limits)).toBeUndefined();
  expect(planSegment(pathOf(4), choice, limits)).toEqual({ upTo: 'n3', reason: 'turns' });
});

describe('room for a request that does not fit', () => {
  const room = (excess: number, wanted: number, path = pathOf(6)) =>
    planRoom(path, off, { excess, wanted, mayEnd })?.upTo;

  it('is made by the oldest turns: down to the goal where that can be, else just enough, else by all', () => {
    expect(room(100, 300)).toBe('n4');
    expect(room(100, 900)).toBe('n2');
    expect(room(580, 900)).toBe('n6');
  });

  it('K15: is not tried for where all of them together are too little', () => {
    expect(room(601, 900)).toBeUndefined();
    expect(room(1, 1, { fixed: 1_000, turns: [] })).toBeUndefined();
  });
});

it('a plan moves forward only, ends where it may, and what it leaves behind is not due again', () => {
  const turns = fc.array(
    fc.record({
      tokens: fc.integer({ min: 1, max: 200 }),
      messages: fc.integer({ min: 1, max: 2 }),
      whole: fc.boolean(),
    }),
    { maxLength: 60 },
  );
  const choice: ContextChoice = { ...off, window: { messages: 24, keep: 12 }, everyTurns: 40 };
  const holds = (some: readonly Pick<PathTurn, 'tokens' | 'messages' | 'whole'>[]) => {
    const path = { fixed: 100, turns: some.map((one, at) => turn(at, one)) };
    const plan = planSegment(path, choice, limits);
    if (!plan) return;
    const cut = path.turns.findIndex(({ lastNode }) => lastNode === plan.upTo);
    expect(path.turns[cut]?.whole).toBe(true);
    const standsFor = { kind: 'summary', nodeId: 's' } as const;
    const kept = path.turns.slice(cut + 1);
    const after = { ...path, turns: [turn(0, { standsFor, messages: 0, lastNode: plan.upTo }), ...kept] };
    const next = planSegment(after, choice, limits);
    if (next) expect(kept.findIndex(({ lastNode }) => lastNode === next.upTo)).toBeGreaterThanOrEqual(0);
    // Where every turn may be the last of a run, twelve stay, or one more where an answer would stand without its question.
    if (some.every(({ whole }) => whole) && plan.reason === 'window')
      expect(kept.reduce((sum, { messages }) => sum + messages, 0)).toBeLessThanOrEqual(13);
  };
  fc.assert(fc.property(turns, holds), { numRuns: 300 });
});
