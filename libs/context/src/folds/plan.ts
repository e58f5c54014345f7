/** A result that a request may hold as a stand-in. */
export interface FoldCandidate {
  readonly toolCallId: string;
  /** Tokens that the request loses by it; a result that is as short as its stand-in saves none. */
  readonly saves: number;
  /** Of a call that the running turn made: folded only where it cannot fit. */
  readonly thisTurn: boolean;
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
