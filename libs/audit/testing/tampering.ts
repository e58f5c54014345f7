import { isDeepStrictEqual } from 'node:util';
import { type EventPlace, type EventStore, EventUnreadable } from '@palimpsest/event-store';
import { type Fault, type VerifyOptions, verifyLog, type VerifyReport } from '../src';
import { luck } from './luck';

/** A log that somebody can write to beside its store. Every change can be undone. */
export interface TamperableLog {
  readonly store: EventStore;
  /** Whether the store gives positions without holes. */
  readonly densePositions: boolean;
  /** Where events stand. */
  places(): Promise<readonly EventPlace[]>;
  /** Flips one bit of what is stored of an event; null where the store can't hold the result. */
  flip(place: EventPlace, below: (limit: number) => number): Promise<Undo | null>;
}

export interface Undo {
  readonly what: string;
  undo(): Promise<void>;
}

type Checks = Pick<VerifyOptions, 'content' | 'outside' | 'trusted'>;

/**
 * Flips one bit after another at random places of a log and verifies it each time: every one must be found and named, and nobody else be
 * accused. Throws with the seed where that is not so. The soak calls it for 1,000 places.
 */
export async function verifyFlippedBits(
  log: TamperableLog,
  checks: () => Checks,
  { places, seed }: { readonly places: number; readonly seed: number },
): Promise<void> {
  const below = luck(seed);
  const all = await log.places();
  for (let done = 0; done < places;) {
    const place = all[below(all.length)] as EventPlace;
    const before = await read(log.store, place);
    const flipped = await log.flip(place, below);
    if (!flipped) continue;
    try {
      if (isDeepStrictEqual(await read(log.store, place), before))
        throw new Error(`it changed nothing that is read back`);
      judge(place, await verifyLog({ store: log.store, densePositions: log.densePositions, ...checks() }));
      done += 1;
    } catch (error) {
      const where = `${flipped.what} of ${place.stream} at revision ${place.revision} (${place.type})`;
      throw new Error(
        `Seed ${seed}, flip ${done}: ${where}: ${error instanceof Error ? error.message : String(error)}`,
        {
          cause: error,
        },
      );
    } finally {
      await flipped.undo();
    }
  }
}

/** Throws unless the event is named and no other one is accused. */
export function judge(place: EventPlace, { ok, faults }: VerifyReport): void {
  const show = faults.map(shown).join('; ');
  if (ok || !faults.some((fault) => names(fault, place))) throw new Error(`it was not found: ${show || 'no fault'}`);
  const isChunk = faults.some((fault) => names(fault, place) && fault.stream?.startsWith('payload-'));
  const others = faults.filter((fault) => !names(fault, place) && !follows(fault, place, isChunk));
  if (others.length) throw new Error(`others are accused: ${others.map(shown).join('; ')}`);
}

export const shown = ({ kind, stream, revision, position, id, detail }: Fault): string =>
  `${kind} ${stream}@${revision} position ${position} id ${id} (${detail})`;

function names(fault: Fault, { stream, revision, position, id }: EventPlace): boolean {
  return fault.id === id || (fault.stream === stream && fault.revision === revision) || fault.position === position;
}

/**
 * An event is named with the chunks that it refers to, also where something strange came among them, and the anchors that an anchor's loss concerns. Of two events beside each other that stand in the
 * wrong order nothing says which was moved, so both are named.
 */
function follows({ kind, stream, revision }: Fault, place: EventPlace, isChunk: boolean): boolean {
  if (kind === 'payload_broken') return isChunk || place.stream.startsWith('payload-');
  if (kind === 'reordered' && stream === place.stream && revision !== null)
    return revision === place.revision + 1n || revision === place.revision - 1n;
  return (kind.startsWith('anchor_') && place.stream.startsWith('audit-')) || kind === 'hole';
}

async function read(store: EventStore, { stream, revision }: EventPlace): Promise<unknown> {
  try {
    for await (const event of store.readStream(stream, { from: revision, limit: 1 })) return event;
    return undefined;
  } catch (error) {
    if (error instanceof EventUnreadable) return 'unreadable';
    throw error;
  }
}
