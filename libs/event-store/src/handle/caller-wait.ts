import { OutcomeUnknown } from '../errors';
import type { Queued } from './stream-queue';

export interface CallerWait<T> {
  readonly waitMs?: number | undefined;
  readonly signal?: AbortSignal;
  readonly onSettled?: (settled: { readonly result: T } | { readonly error: unknown }) => void;
}

/**
 * The result of queued work, for a caller who may not want to wait for it. Work that has not begun by then is taken back. Work that has
 * goes on; its outcome is unknown to the caller, and `onSettled` hears of its end.
 */
export async function waitFor<T>(job: Queued<T>, { waitMs, signal, onSettled }: CallerWait<T>): Promise<T> {
  let given = false;
  let timer: NodeJS.Timeout | undefined;
  let giveUp = () => {};
  const gaveUp = new Promise<never>((_, reject) => {
    giveUp = () => {
      if (given || job.cancel()) return;
      given = true;
      reject(new OutcomeUnknown('The command is being stored. Ask again with the same key.'));
    };
  });
  if (waitMs !== undefined) timer = setTimeout(giveUp, waitMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  if (signal?.aborted) giveUp();
  job.result.then(
    (result) => given && onSettled?.({ result }),
    (error: unknown) => given && onSettled?.({ error }),
  );
  try {
    return await Promise.race([job.result, gaveUp]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
