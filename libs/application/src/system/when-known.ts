/** A reader of the log, on its way to the log's end. */
export interface Reader {
  readonly position: bigint;
  /** Resolves when it has moved, or after so many milliseconds. */
  moved(withinMs: number): Promise<unknown>;
}

/**
 * Looks for what a read model may not know yet. Undefined: it is not there, and the read model has everything that the log held when this
 * was called; or the time is up.
 */
export async function whenKnown<T>(
  look: () => Promise<T | undefined>,
  endOfLog: () => Promise<bigint>,
  reader: Reader,
  maxWaitMs: number,
): Promise<T | undefined> {
  const until = performance.now() + maxWaitMs;
  let end: bigint | undefined;
  for (;;) {
    // Judged before the look: a reader that arrives between a look and the judgement has brought what that look did not see.
    const arrived = (end !== undefined && reader.position >= end) || performance.now() >= until;
    const found = await look();
    if (found !== undefined || arrived) return found;
    end ??= await endOfLog();
    if (reader.position < end) await reader.moved(Math.min(100, until - performance.now()));
  }
}
