const seed = process.env['HISTORIES_SEED'];

/** How many random histories a test tells, and from which seed: a few by themselves, many in the soak. A failure names its own seed. */
export const historyRuns = {
  numRuns: Number(process.env['HISTORIES'] ?? 200),
  ...(seed === undefined ? {} : { seed: Number(seed) }),
  // Far from the first history, shrinking would take hours.
  endOnFailure: process.env['HISTORIES'] !== undefined,
};
