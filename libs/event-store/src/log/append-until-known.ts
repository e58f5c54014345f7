import { setTimeout as sleep } from 'node:timers/promises';
import { OutcomeUnknown } from '../errors';
import type { AppendOutcome, EventStore, ExpectedRevision, NewEvent } from '../port';

export interface Backoff {
  /** Milliseconds before the first retry; doubled with each, up to `maxMs`; each with jitter from half to the whole. */
  readonly minMs: number;
  readonly maxMs: number;
}

export async function pause(attempt: number, { minMs, maxMs }: Backoff, signal?: AbortSignal): Promise<void> {
  const ms = Math.min(minMs * 2 ** Math.min(attempt, 30), maxMs) * (0.5 + Math.random() / 2);
  await sleep(ms, undefined, signal ? { signal } : {}).catch(() => undefined);
}

export interface UntilKnown {
  readonly backoff: Backoff;
  /** Ends the loop; it then rejects with the last `OutcomeUnknown`. For the process's end: nothing else may decide meanwhile. */
  readonly signal?: AbortSignal;
  readonly onUnknown?: (error: OutcomeUnknown, attempt: number) => void;
}

/**
 * PROTOCOL.md A6: while the outcome is unknown, the same ids, bytes and revision again, until the store says stored or conflict. Once it
 * was unknown, no other error makes it known: a store that can't be reached now may have stored the first try.
 */
export async function appendUntilKnown(
  store: EventStore,
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
  { backoff, signal, onUnknown }: UntilKnown,
): Promise<AppendOutcome> {
  let unknown: OutcomeUnknown | undefined;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await store.append(stream, expected, events);
    } catch (error) {
      if (error instanceof OutcomeUnknown) unknown = error;
      if (!unknown) throw error;
      onUnknown?.(unknown, attempt);
      if (!signal?.aborted) await pause(attempt, backoff, signal);
      if (signal?.aborted) throw unknown;
    }
  }
}
