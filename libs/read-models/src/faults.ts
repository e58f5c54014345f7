import { StoreUnavailable } from '@palimpsest/event-store';
import { isDatabaseAway } from '@palimpsest/platform';
import { basename } from 'node:path';
import { types } from 'node:util';

/** What is to be written rests on another stream, which this projection has parked: it waits, and is tried again with that one. */
export class WaitsForStream extends Error {
  override readonly name = 'WaitsForStream';
  constructor(readonly stream: string) {
    super(`${stream} is not as far as what rests on it.`);
  }
}

/**
 * What Postgres says where no event is at fault: connections, transactions that others or a timeout broke off, serialization and deadlocks,
 * resources, an operator, a lock that was not had in time, the system.
 */
const notTheEvent = /^(08|25|40|53|55|57|58|XX)/;

/** Whether a batch failed for a reason that the next try may not meet, whatever its events say. Everything else is laid at an event's door. */
export function isInfrastructure(error: unknown): boolean {
  if (error instanceof StoreUnavailable || isDatabaseAway(error)) return true;
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && notTheEvent.test(code);
}

/** Why, for an operator. No message: those of Postgres, of parsers and of projections may quote what somebody said. */
export function reasonOf(error: unknown): string {
  if (!types.isNativeError(error)) return 'something that is no error was thrown';
  const { code, table, column, constraint } = error as Error & Partial<Record<string, string>>;
  const what = [code && `code ${code}`, table && `table ${table}`, column && `column ${column}`, constraint];
  const details = what.filter(Boolean).join(', ');
  return [error.name, details && ` (${details})`, placeOf(error)].join('');
}

/** Where it was thrown: the first line of the stack that is not a package's. */
function placeOf({ stack = '' }: Error): string {
  const lines = stack.split('\n').filter((line) => /^\s+at /.test(line) && !/node_modules|node:/.test(line));
  const [, file, line] = /([^\s(]+):(\d+):\d+\)?$/.exec(lines[0] ?? '') ?? [];
  return file === undefined ? '' : ` at ${basename(file)}:${line}`;
}
