import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Whether trying again may mend it. Without an SQLSTATE it is the connection that broke. The classes: connection, rollback (deadlock,
 * serialisation), resources, lock not available or object in use, operator intervention, system. Anything else is a mistake of ours or
 * of the installation, and stays one.
 */
export function isTransient(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return true;
  return ['08', '40', '53', '55', '57', '58'].includes(code.slice(0, 2));
}

export function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: unknown }).code === '23505';
}

/** Milliseconds before the next try: twice as long each time, up to two seconds, with half of it left to luck. */
export function backoffMs(failures: number): number {
  const ceiling = Math.min(2_000, 25 * 2 ** Math.min(failures, 10));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}

/** Sleeps, or wakes early at the signal. Keeps no process alive. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
