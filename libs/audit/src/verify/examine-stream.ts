import { digestOf, type EventPlace, type EventStore, metaOf, type StoredEvent } from '@palimpsest/event-store';
import { absence, type Fault, faultAt } from './fault';
import { disordered } from './order';
import { readStreamThings, thingAt } from './read-everything';

/** An event of the stream, and at which revision it was written: null where no revision makes its digest right. */
interface Entry {
  readonly place: EventPlace;
  readonly digest: string | null;
  readonly previousDigest: string | null;
  original: bigint | null;
}

/**
 * What is wrong with a stream that is known to be unsound, told apart: an event's digest covers its revision, so it says where the event
 * was written, and its link says behind which one. Holds a line per event of this one stream.
 */
export async function examineStream(store: EventStore, stream: string, end: bigint): Promise<readonly Fault[]> {
  const entries = await readEntries(store, stream, end);
  const inserted = new Set(doubles(entries));
  const changed = placeUnknown(entries, inserted);
  const present = entries.filter((entry) => !inserted.has(entry));
  const missing = missingOf(present);
  return [
    ...[...inserted].map(({ place }) =>
      faultAt('inserted', place, 'It was not written here: the events around it follow each other.'),
    ),
    ...changed.map(({ place, digest }) =>
      faultAt('changed', place, digest === null ? 'Its bytes are no event any more.' : 'It does not have its digest.'),
    ),
    ...missing.map((range) => absence('missing', stream, range, 'The events around it show that it stood here.')),
    ...displaced(entries, inserted, missing).map(({ place, original }) =>
      faultAt('reordered', place, `It was written at revision ${original}.`),
    ),
    ...disordered(present.map(({ place }) => place.position)).map((index) =>
      faultAt(
        'reordered',
        (present[index] as Entry).place,
        'Positions do not follow the order of the stream: it, or the event beside it, was moved.',
      ),
    ),
    ...replaced(present, new Set(changed)).map(({ place }) =>
      faultAt('changed', place, 'It is sound by itself, but the event after it was written behind another one.'),
    ),
  ];
}

async function readEntries(store: EventStore, stream: string, end: bigint): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  const known = new Map<string, bigint>();
  const search = new Search(known);
  for await (const { place, event } of readStreamThings(store, stream)) {
    if (place.position > end) continue;
    const { revision, position, id, type } = place;
    const entry: Entry = { place: { stream, revision, position, id, type }, ...linksOf(event), original: null };
    entry.original = event && search.original(event);
    if (entry.original !== null && entry.digest !== null) known.set(entry.digest, entry.original);
    entries.push(entry);
  }
  // An event that was moved forwards stands before the one that it is linked to.
  for (const entry of entries) {
    if (entry.original !== null || entry.previousDigest === null) continue;
    const before = known.get(entry.previousDigest);
    const thing = before === undefined ? undefined : await thingAt(store, stream, entry.place.revision);
    if (before !== undefined && thing?.event && fits(thing.event, before + 1n)) entry.original = before + 1n;
  }
  return entries;
}

function linksOf(event: StoredEvent | null): Pick<Entry, 'digest' | 'previousDigest'> {
  const { digest, previousDigest } = event ? metaOf(event) : {};
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return { digest: event ? (text(digest) ?? '') : null, previousDigest: text(previousDigest) };
}

function fits(event: StoredEvent, revision: bigint): boolean {
  try {
    return digestOf({ ...event, revision }) === metaOf(event).digest;
  } catch {
    return false;
  }
}

/** How far around an event's place every revision is tried, and for how many events: that many were taken out or put in before it. */
const TRIED_AROUND = 256n;
const TRIED_EVENTS = 64;

/** Finds the revision at which an event was written. */
class Search {
  private shift = 0n;
  private left = TRIED_EVENTS;

  constructor(private readonly known: ReadonlyMap<string, bigint>) {}

  original(event: StoredEvent): bigint | null {
    const { revision } = event;
    if (fits(event, revision)) return revision;
    const linked = this.known.get(metaOf(event).previousDigest ?? '');
    const likely = [
      revision - this.shift,
      ...(linked === undefined ? [] : [linked + 1n]),
      revision - 1n,
      revision + 1n,
    ];
    for (const candidate of likely) if (candidate >= 0n && fits(event, candidate)) return this.found(event, candidate);
    if (this.left === 0) return null;
    this.left -= 1;
    for (let step = 2n; step <= TRIED_AROUND; step += 1n)
      for (const candidate of [revision - step, revision + step])
        if (candidate >= 0n && fits(event, candidate)) return this.found(event, candidate);
    return null;
  }

  private found({ revision }: StoredEvent, original: bigint): bigint {
    this.shift = revision - original;
    return original;
  }
}

/** Of events that were all written at one revision, those that are not the one that the next is linked to. */
function doubles(entries: readonly Entry[]): readonly Entry[] {
  const byOriginal = new Map<bigint, Entry[]>();
  for (const entry of entries) {
    if (entry.original === null) continue;
    byOriginal.set(entry.original, [...(byOriginal.get(entry.original) ?? []), entry]);
  }
  const links = new Set(entries.map(({ previousDigest }) => previousDigest));
  return [...byOriginal.values()].flatMap((group) => {
    if (group.length < 2) return [];
    const moved = group.find(({ place, original }) => place.revision !== original);
    const genuine = group.find(({ digest }) => links.has(digest)) ?? moved ?? group[0];
    return group.filter((entry) => entry !== genuine);
  });
}

/** Events whose digest fits nowhere: where there was room for them they were changed, and the rest were inserted. */
function placeUnknown(entries: readonly Entry[], inserted: Set<Entry>): readonly Entry[] {
  const following = nextOriginals(entries, inserted);
  const changed: Entry[] = [];
  let before = -1n;
  entries.forEach((entry, index) => {
    if (inserted.has(entry)) return;
    const next = following[index] ?? null;
    if (entry.original !== null) {
      // One that stands out of order says nothing about where its neighbours belong.
      if (entry.original > before && (next === null || next > entry.original)) before = entry.original;
    } else if (next === before + 1n) {
      inserted.add(entry);
    } else {
      before += 1n;
      entry.original = before;
      changed.push(entry);
    }
  });
  return changed;
}

/** Of each entry, where the next one behind it was written of which that is known. */
function nextOriginals(entries: readonly Entry[], inserted: ReadonlySet<Entry>): readonly (bigint | null)[] {
  const following: (bigint | null)[] = [];
  let next: bigint | null = null;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    following[index] = next;
    const entry = entries[index] as Entry;
    if (entry.original !== null && !inserted.has(entry)) next = entry.original;
  }
  return following;
}

function missingOf(present: readonly Entry[]): readonly (readonly [bigint, bigint])[] {
  const originals = present.map(({ original }) => original as bigint).sort((a, b) => (a < b ? -1 : 1));
  const missing: [bigint, bigint][] = [];
  let expected = 0n;
  for (const original of originals) {
    if (original > expected) missing.push([expected, original - 1n]);
    if (original >= expected) expected = original + 1n;
  }
  return missing;
}

/** Events that stand where they were not written, also when what was taken out or put in before them is reckoned with. */
function displaced(
  entries: readonly Entry[],
  inserted: ReadonlySet<Entry>,
  missing: readonly (readonly [bigint, bigint])[],
): readonly Entry[] {
  const gone = (original: bigint) =>
    missing.reduce((sum, [first, last]) => (first < original ? sum + (last - first + 1n) : sum), 0n);
  let put = 0n;
  return entries.filter((entry, index) => {
    if (inserted.has(entry)) {
      put += 1n;
      return false;
    }
    const { place, original } = entry;
    if (original === null || original === place.revision) return false;
    const isRenumbered = place.revision === BigInt(index);
    return !isRenumbered || BigInt(index) !== original - gone(original) + put;
  });
}

function replaced(present: readonly Entry[], changed: ReadonlySet<Entry>): readonly Entry[] {
  const byOriginal = new Map(present.map((entry) => [entry.original, entry]));
  return present.filter((entry) => {
    if (changed.has(entry) || entry.original === null) return false;
    const next = byOriginal.get(entry.original + 1n);
    return next !== undefined && !changed.has(next) && next.previousDigest !== entry.digest;
  });
}
