import { constants } from 'node:os';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A person, or the system, asked this process to end. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly exitCode: number;
  constructor(signal: NodeJS.Signals) {
    super(`Interrupted by ${signal}.`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Runs work that must clean up after itself. The first signal aborts it (the reason is an `Interrupted`) and waits for it to end; it then
 * rejects with that reason, whatever the work made of it. Further signals change nothing.
 */
export async function interruptible<T>(work: (interruption: AbortSignal) => Promise<T>): Promise<T> {
  const interruption = new AbortController();
  const abort = (signal: NodeJS.Signals): void => interruption.abort(new Interrupted(signal));
  for (const signal of signals) process.on(signal, abort);
  try {
    return await work(interruption.signal);
  } finally {
    for (const signal of signals) process.off(signal, abort);
    interruption.signal.throwIfAborted();
  }
}
