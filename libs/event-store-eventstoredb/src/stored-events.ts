import type { AllStreamRecordedEvent, ResolvedEvent } from '@eventstore/db-client';
import {
  type EventPlace,
  EventUnreadable,
  InvalidEvent,
  type JsonObject,
  type NewEvent,
  type StoredEvent,
} from '@palimpsest/event-store';

/**
 * A key of the metadata that this adapter keeps for itself: how many events of the same append follow. The protocol does not tell where an
 * append ends, and a subscription must not cut one in two. It is taken out before anybody sees the event, so no digest covers it.
 */
const REST = '$rest';

/** Names with this sign in front are the server's own; readers pass over them. */
const SYSTEM = '$';

export function refuseNamesOfTheServer(stream: string, events: readonly NewEvent[]): void {
  if (stream.startsWith(SYSTEM)) throw new InvalidEvent(`The stream name ${stream} is one of EventStoreDB's own.`);
  for (const { type, metadata } of events) {
    if (type.startsWith(SYSTEM)) throw new InvalidEvent(`The event type ${type} is one of EventStoreDB's own.`);
    if (Object.hasOwn(metadata, REST)) throw new InvalidEvent(`The metadata key ${REST} is one of the store's own.`);
  }
}

export const isOfTheServer = ({ stream, type }: { stream: string; type: string }): boolean =>
  stream.startsWith(SYSTEM) || type.startsWith(SYSTEM);

/** The metadata as it is stored. */
export function metadataText(text: string, rest: number): string {
  if (rest === 0) return text;
  return text === '{}' ? `{"${REST}":${rest}}` : `{"${REST}":${rest},${text.slice(1)}`;
}

export interface Arrived {
  readonly place: EventPlace;
  /** Null: what is stored there is no event that this adapter wrote, or not any more. */
  readonly event: StoredEvent | null;
  /** How many events of the same append follow. */
  readonly rest: number;
}

/**
 * An event as the client hands it over: its JSON parsed, numbers and strings as they were, integer-like keys in front, which canonical JSON
 * does not mind. What the client cannot parse comes as text or bytes, and so as no event. Other programs may leave out the metadata.
 */
export function toArrived(resolved: ResolvedEvent): Arrived | undefined {
  const recorded = resolved.event as AllStreamRecordedEvent | undefined;
  if (!recorded) return undefined;
  const place: EventPlace = {
    stream: recorded.streamId,
    revision: recorded.revision,
    position: recorded.position?.commit ?? resolved.commitPosition ?? 0n,
    id: recorded.id,
    type: recorded.type,
  };
  const data = objectOf(recorded.data);
  const metadata: JsonObject | undefined = recorded.metadata === undefined ? {} : objectOf(recorded.metadata);
  if (!data || !metadata) return { place, event: null, rest: 0 };
  const { [REST]: rest } = metadata;
  // The client parsed it for us alone.
  if (rest !== undefined) delete (metadata as Record<string, unknown>)[REST];
  const event: StoredEvent = { ...place, data, metadata, createdAt: recorded.created };
  return { place, event, rest: typeof rest === 'number' && rest > 0 ? rest : 0 };
}

/** @throws `EventUnreadable` where what arrived is none. */
export function eventOf({ place, event }: Arrived): StoredEvent {
  if (!event) throw new EventUnreadable(place);
  return event;
}

function objectOf(value: unknown): JsonObject | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
  return isObject ? (value as JsonObject) : undefined;
}
