/** What a counter said of a request, uncorrected, and what the provider then reported for it. */
export interface CountedCall {
  readonly counted: number;
  readonly reported: number;
}

/** The last calls that are looked at; the one that was underrated most decides, so that the next one is rather overrated. */
export const CALLS_COMPARED = 4;
/** Of shorter requests, what a provider adds to each is too large a share. Tokens. */
export const SHORTEST_COMPARED = 1000;
export const LEAST_CORRECTION = 0.8;
export const MOST_CORRECTION = 2;

/**
 * By how much the next count on a path is to be corrected, from the calls before it there, oldest first, with the same model. It follows from
 * the log alone, so that whoever assembles the request gets the same.
 */
export function correctionOf(calls: readonly CountedCall[]): number {
  const ratios = calls
    .filter(({ counted, reported }) => counted >= SHORTEST_COMPARED && reported > 0)
    .slice(-CALLS_COMPARED)
    .map(({ counted, reported }) => Math.ceil((100 * reported) / counted) / 100);
  if (ratios.length === 0) return 1;
  return Math.min(MOST_CORRECTION, Math.max(LEAST_CORRECTION, ...ratios));
}
