/** A result that a request may hold as a stand-in. */
export interface FoldCandidate {
  readonly toolCallId: string;
  /** Tokens that the request loses by it; a result that is as short as its stand-in saves none. */
  readonly saves: number;
  /** Of a call that the running turn made: folded only where it cannot fit. */
  readonly thisTurn: boolean;
  /** A model has answered with it before it: what nobody read yet stays, as long as it fits. */
  readonly seen: boolean;
}

/** Tokens that a result saves at least, for it to be folded before it must: what is short is cheaper kept than asked for again. */
export const EARLY_FOLD_SAVES = 128;

/** When results of earlier turns are folded before they must be. */
export type EarlyFolds =
  /** In the first request of each turn: it breaks the common prefix at the last turn's question anyway. */
  | { readonly when: 'turn_end' }
  /** Where a request passes `above` tokens: until it has `below`. */
  | { readonly when: 'pressure'; readonly above: number; readonly below: number };

/** A request as it would be with nothing folded. */
export interface RequestSize {
  readonly tokens: number;
  /** Tokens: the model's input cap. */
  readonly cap: number;
  /** It is the first of its turn. */
  readonly begins: boolean;
}

/** The calls whose results a request holds as their stand-ins, in the order of the path: those that go early, and those that must. */
export function foldsFor(
  { tokens, cap, begins }: RequestSize,
  candidates: readonly FoldCandidate[],
  early?: EarlyFolds,
): readonly string[] {
  const folded = new Set(earlyFolds(tokens, begins, candidates, early));
  const saved = candidates.reduce((sum, { toolCallId, saves }) => sum + (folded.has(toolCallId) ? saves : 0), 0);
  if (tokens - saved > cap) for (const toolCallId of planFolds(tokens - cap, candidates)) folded.add(toolCallId);
  return candidates.filter(({ toolCallId }) => folded.has(toolCallId)).map(({ toolCallId }) => toolCallId);
}

function earlyFolds(
  tokens: number,
  begins: boolean,
  candidates: readonly FoldCandidate[],
  early: EarlyFolds | undefined,
): readonly string[] {
  const old = candidates.filter(({ thisTurn, seen, saves }) => !thisTurn && seen && saves >= EARLY_FOLD_SAVES);
  if (early?.when === 'turn_end') return begins ? old.map(({ toolCallId }) => toolCallId) : [];
  return early && tokens > early.above ? planFolds(tokens - early.below, old) : [];
}

/**
 * The calls whose results are to be folded so that a request loses so many tokens: those of earlier turns first, the oldest first. What fits
 * beside a larger one that had to go stays, the newest before all; so no fold of the plan could be left out. Where all of them together are not
 * enough, all are in the plan. `candidates` are in the order of the path, and so is the answer.
 */
export function planFolds(excess: number, candidates: readonly FoldCandidate[]): readonly string[] {
  const useful = candidates.filter(({ saves }) => saves > 0);
  const inTurn = [...useful.filter(({ thisTurn }) => !thisTurn), ...useful.filter(({ thisTurn }) => thisTurn)];
  const folded = new Set<FoldCandidate>();
  let over = excess;
  for (const candidate of inTurn) {
    if (over <= 0) break;
    folded.add(candidate);
    over -= candidate.saves;
  }
  for (const candidate of [...folded].reverse()) {
    if (over + candidate.saves > 0) continue;
    folded.delete(candidate);
    over += candidate.saves;
  }
  return useful.filter((candidate) => folded.has(candidate)).map(({ toolCallId }) => toolCallId);
}
