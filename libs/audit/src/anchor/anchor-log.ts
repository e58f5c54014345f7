import { setTimeout as sleep } from 'node:timers/promises';
import {
  appendUntilKnown,
  digestOf,
  type EventStore,
  type JsonObject,
  metaOf,
  type NewEvent,
  type StoredEvent,
} from '@palimpsest/event-store';
import { randomIds } from '@palimpsest/platform';
import { readAllThings } from '../verify/read-everything';
import { actualDigest, EventRange } from './event-range';
import type { SigningKey } from './signing-key';
import { ANCHOR_STREAM, ANCHOR_TYPE, digestOfAnchor, parseAnchor, signAnchor, type SignedAnchor } from './statement';

/** An anchor as it stands in the log. */
export interface LoggedAnchor {
  readonly anchor: SignedAnchor;
  readonly event: StoredEvent;
}

/** Bytes of an anchor's heads: with them an anchor stays below what one append may hold. What more has moved goes into the next one. */
export const MAX_HEADS_BYTES = 512 * 1024;

/** Tries of the append before the round gives up; whatever its outcome was, the next round reads it from the log. */
const APPEND_PATIENCE_MS = 30_000;

/** Anchors from a number on, as the log has them. Throws for an event that is none: then `verify` has more to say. */
export async function* anchorsFrom(store: EventStore, number: number): AsyncGenerator<LoggedAnchor> {
  for await (const event of store.readStream(ANCHOR_STREAM, { from: BigInt(number) })) yield loggedAnchor(event);
}

export async function lastAnchor(store: EventStore): Promise<LoggedAnchor | undefined> {
  for await (const event of store.readStream(ANCHOR_STREAM, { direction: 'backwards', limit: 1 }))
    return loggedAnchor(event);
  return undefined;
}

function loggedAnchor(event: StoredEvent): LoggedAnchor {
  const anchor = event.type === ANCHOR_TYPE ? parseAnchor(event.data) : null;
  if (!anchor)
    throw new Error(`${ANCHOR_STREAM} holds at revision ${event.revision} no anchor. Run palimpsest verify.`);
  return { anchor, event };
}

/**
 * The next anchor behind `last`, appended; undefined where nothing has moved since but the anchors themselves, or where somebody else was
 * first. It says what stands there, as far as the log reached at the start: an event that was changed before it was anchored keeps the
 * digest that gives it away.
 */
export async function appendNextAnchor(
  store: EventStore,
  last: LoggedAnchor | undefined,
  key: SigningKey,
  at: Date,
  maxHeadsBytes: number = MAX_HEADS_BYTES,
): Promise<LoggedAnchor | undefined> {
  const after = last?.anchor.statement.to ?? '-1';
  const end = await store.lastPosition();
  const range = new EventRange();
  let to: bigint | undefined;
  let moved = false;
  for await (const { place, event } of readAllThings(store, BigInt(after))) {
    if (place.position > end || range.bytes > maxHeadsBytes) break;
    range.put(place, event ? actualDigest(event) : '');
    moved ||= place.stream !== ANCHOR_STREAM;
    to = place.position;
  }
  if (to === undefined || !moved) return undefined;
  const number = last ? last.anchor.statement.number + 1 : 0;
  const statement = {
    ...{ version: 1 as const, number, previous: last ? digestOfAnchor(last.anchor) : null, after, to: String(to) },
    ...{ events: range.events, order: range.order(), heads: range.heads(), at: at.toISOString() },
  };
  return append(store, last, signAnchor(statement, key));
}

async function append(
  store: EventStore,
  last: LoggedAnchor | undefined,
  anchor: SignedAnchor,
): Promise<LoggedAnchor | undefined> {
  const { number, at } = anchor.statement;
  const event = eventOf(anchor, number, at, last ? metaOf(last.event).digest : null);
  const patience = new AbortController();
  const over = sleep(APPEND_PATIENCE_MS, undefined, { signal: patience.signal, ref: false });
  over.then(() => patience.abort()).catch(() => undefined);
  const backoff = { minMs: 50, maxMs: 2_000 };
  try {
    const expected = number === 0 ? 'no_stream' : BigInt(number) - 1n;
    const stored = await appendUntilKnown(store, ANCHOR_STREAM, expected, [event], {
      backoff,
      signal: patience.signal,
    });
    if (stored.outcome === 'conflict') return undefined;
    const { revision, position } = stored;
    return { anchor, event: { ...event, stream: ANCHOR_STREAM, revision, position, createdAt: new Date(at) } };
  } finally {
    patience.abort();
  }
}

function eventOf(anchor: SignedAnchor, number: number, at: string, previousDigest: string | null): NewEvent {
  const id = randomIds.next();
  const data = anchor as unknown as JsonObject;
  const metadata: JsonObject = {
    ...{ tenantId: 'installation', actor: 'anchors', correlationId: id, causationId: null, occurredAt: at },
    ...{ schemaVersion: 1, previousDigest },
  };
  const digest = digestOf({
    ...{ stream: ANCHOR_STREAM, revision: BigInt(number), id, type: ANCHOR_TYPE },
    ...{ data, metadata },
  });
  return { id, type: ANCHOR_TYPE, data, metadata: { ...metadata, digest } };
}
