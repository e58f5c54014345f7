import { ErrorType } from '@eventstore/db-client';
import { EventUnreadable, StoreUnavailable } from '@palimpsest/event-store';
import { setTimeout as sleep } from 'node:timers/promises';

/** Our own clock ran out: the server says nothing, and closes nothing. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** The stream was deleted for ever by hand. Nothing of ours does that. */
export class StreamTombstoned extends Error {
  override readonly name = 'StreamTombstoned';
  constructor(readonly stream: string) {
    super(
      `The stream ${stream} was tombstoned in EventStoreDB: it can't be read or written any more. Restore the log from a backup.`,
    );
  }
}

/** The server does not take a call, for a reason that its operator must mend. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** What trying again does not mend. Everything else may be the network, a leader that changes or a server that starts. */
const lasting: ReadonlySet<unknown> = new Set([
  ErrorType.ACCESS_DENIED,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.STREAM_DELETED,
  ErrorType.UNSUPPORTED,
]);

/** gRPC's PERMISSION_DENIED and UNAUTHENTICATED. */
const lastingCodes: ReadonlySet<number> = new Set([7, 16]);

/** By the client's type, which raw gRPC errors and failed discoveries do not have; those pass. */
export function isTransient(error: unknown): boolean {
  if (error instanceof StreamTombstoned || error instanceof StoreUnavailable || error instanceof Refused) return false;
  if (error instanceof EventUnreadable) return false;
  if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) return false;
  return !lasting.has(typeOf(error)) && !lastingCodes.has(codeOf(error));
}

/** What lasts, in a sentence for the operator where the server has none. */
export function explained(error: unknown): unknown {
  if (typeOf(error) !== ErrorType.ACCESS_DENIED && !lastingCodes.has(codeOf(error))) return error;
  const sentence = `EventStoreDB does not let this process in (${describe(error)}). Check the user and the password in EVENTSTORE_URL, and what that user may do.`;
  return new Refused(sentence, { cause: error });
}

const codeOf = (error: unknown): number => Number((error as { code?: unknown } | null)?.code);

export function typeOf(error: unknown): unknown {
  return (error as { type?: unknown } | null)?.type;
}

/** On one line. Messages of the client may be empty. */
export function describe(error: unknown): string {
  const { type, code, message } = error as { type?: unknown; code?: unknown; message?: unknown };
  const kind = type ?? (typeof code === 'number' ? `gRPC status ${code}` : undefined);
  const said = [kind, message].filter((part) => typeof part === 'string' && part !== '').join(': ') || String(error);
  return said.replace(/\s+/g, ' ');
}

/** Milliseconds before the next try: twice as long each time, up to two seconds, with half of it left to luck. */
export function backoffMs(failures: number): number {
  const ceiling = Math.min(2_000, 25 * 2 ** Math.min(failures, 10));
  return ceiling / 2 + (Math.random() * ceiling) / 2;
}

/** Sleeps, or wakes early at the signal. Keeps the process alive: who waits here has yet to say how it ended. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
