import { AppendTooLarge, InvalidEvent } from './errors';
import type { ExpectedRevision, NewEvent } from './port';

/** What EventStoreDB takes by default: the data bytes of one append together; metadata does not count. */
export const MAX_APPEND_BYTES = 1_048_576;

/** Deeper JSON would overflow the stack of one reader or another: of JSON.stringify first. */
const MAX_DEPTH = 500;

/** A name is indexed, and Postgres takes at most 2,700 bytes in an index. */
const MAX_NAME_LENGTH = 500;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** An event that was found fit to be stored. Its data and metadata are JSON text, so that nobody can change them any more. */
export interface CheckedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/**
 * What every adapter checks before it sends anything, so that they all refuse the same appends: throws `InvalidEvent` or `AppendTooLarge`.
 * JSON.stringify and RFC 8785 differ in the order of keys alone, so both count the same bytes.
 */
export function checkAppend(
  stream: string,
  expected: ExpectedRevision,
  events: readonly NewEvent[],
  maxBytes: number = MAX_APPEND_BYTES,
): CheckedEvent[] {
  checkName('stream name', stream);
  if (expected !== 'no_stream' && expected < 0n) {
    throw new InvalidEvent(`The expected revision is ${expected}; revisions begin at 0. A new stream is 'no_stream'.`);
  }
  if (events.length === 0) throw new InvalidEvent('The append holds no event.');
  const checked = events.map(checkEvent);
  if (new Set(checked.map((event) => event.id)).size < checked.length) {
    throw new InvalidEvent('The append holds one event id twice.');
  }
  const bytes = checked.reduce((sum, event) => sum + Buffer.byteLength(event.data), 0);
  if (bytes > maxBytes) throw new AppendTooLarge(bytes, maxBytes);
  return checked;
}

function checkEvent(event: NewEvent): CheckedEvent {
  if (!UUID.test(event.id)) throw new InvalidEvent(`The event id ${JSON.stringify(event.id)} is no lower-case uuid.`);
  checkName('event type', event.type);
  return {
    id: event.id,
    type: event.type,
    data: jsonText(event.data, `the data of ${event.type}`),
    metadata: jsonText(event.metadata, `the metadata of ${event.type}`),
  };
}

/** NUL and lone surrogates belong to texts, which are JSON. A name is an identifier, and no index takes them there, nor very long ones. */
function checkName(what: string, name: string): void {
  if (name === '') throw new InvalidEvent(`The ${what} is empty.`);
  if (name.length > MAX_NAME_LENGTH) {
    throw new InvalidEvent(`The ${what} has ${name.length} characters; at most ${MAX_NAME_LENGTH} are taken.`);
  }
  if (name.includes('\0') || !isWellFormed(name)) {
    throw new InvalidEvent(`The ${what} ${JSON.stringify(name)} holds a NUL or a lone surrogate.`);
  }
}

function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

function jsonText(value: unknown, where: string): string {
  if (!isPlainObject(value)) throw new InvalidEvent(`There is no JSON object in ${where}.`);
  checkJson(value, where, 0);
  return JSON.stringify(value);
}

/** JSON that survives parsing: what would come back otherwise, or not at all, is refused by name. */
function checkJson(value: unknown, where: string, depth: number): void {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return;
  if (typeof value === 'number') {
    if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return;
    throw new InvalidEvent(`The number ${value} in ${where} is outside the safe integers. Store it as a string.`);
  }
  if (depth >= MAX_DEPTH) throw new InvalidEvent(`There are more than ${MAX_DEPTH} levels of JSON in ${where}.`);
  if (Array.isArray(value)) {
    // By index: forEach would pass over the holes of a sparse array.
    for (let i = 0; i < value.length; i++) checkJson(value[i], where, depth + 1);
    return;
  }
  if (!isPlainObject(value)) throw new InvalidEvent(`There is a ${typeof value} in ${where} that is no JSON.`);
  for (const key of Object.keys(value)) checkJson(value[key], where, depth + 1);
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Not `=== Object.prototype`: an object of another realm (a vm context) is plain too.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
