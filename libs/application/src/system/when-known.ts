/** A reader of the log, on its way to the log's end. */
export interface Reader {
  readonly position: bigint;
  /** Resolves when it has moved, or after so many milliseconds. */
  moved(withinMs: number): Promise<unknown>;
}

/** `absent`: the read model has everything that the log held when it was asked. `late`: the time was up before it had. */
export type Known<T> = { readonly found: T } | 'absent' | 'late';

/** Looks for what a read model may not know yet. */
export async function whenKnown<T>(
  look: () => Promise<T | undefined>,
  endOfLog: () => Promise<bigint>,
  reader: Reader,
  maxWaitMs: number,
): Promise<Known<T>> {
  const until = performance.now() + maxWaitMs;
  let end: bigint | undefined;
  for (;;) {
    // Judged before the look: a reader that arrives between a look and the judgement has brought what that look did not see.
    const arrived = end !== undefined && reader.position >= end;
    const late = performance.now() >= until;
    const found = await look();
    if (found !== undefined) return { found };
    if (arrived || late) return arrived ? 'absent' : 'late';
    end ??= await endOfLog();
    if (reader.position < end) await reader.moved(Math.min(100, until - performance.now()));
  }
}
