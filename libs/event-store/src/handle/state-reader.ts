import { LRUCache } from 'lru-cache';
import type { Draft, EventCodec, Folded } from '../log/event-codec';
import type { EventStore, Json, Position, Revision, StoredEvent } from '../port';
import type { Decider } from './decider';
import { SNAPSHOT_EVERY, type Snapshots } from './snapshots';

/** A stream as far as it was read. Revision and position are -1n where it has no events. */
export interface View<S> {
  readonly state: S;
  readonly revision: Revision;
  readonly position: Position;
  readonly digest: string | null;
}

interface Kept<S> extends View<S> {
  /** Revision of the snapshot that was last written or read. */
  readonly snapshotAt: Revision;
}

/** Events that the cached states were folded from, all streams together: a state's size grows with them. */
export const MAX_CACHED_EVENTS = 500_000;

interface SnapshotContent {
  readonly position: string;
  readonly digest: string;
  readonly state: Json;
}

export interface StateReaderOptions<S, D extends Draft> {
  readonly store: EventStore;
  readonly codec: EventCodec;
  readonly decider: Pick<Decider<S, never, D, unknown>, 'initial' | 'evolve'>;
  readonly snapshots?: Snapshots<S>;
  readonly maxCachedEvents?: number;
  /** A snapshot that could not be read or written: nothing is lost but time. */
  readonly onSnapshotFailed?: (stream: string, error: unknown) => void;
}

/**
 * The states of streams: from memory, else from the snapshot and the events behind it, else from all events. What is kept is checked
 * against the log by its digest before anything is folded onto it, so a log that was restored from a backup is read anew.
 */
export class StateReader<S, D extends Draft> {
  private readonly cache: LRUCache<string, Kept<S>>;
  private readonly saving = new Set<Promise<void>>();

  constructor(private readonly options: StateReaderOptions<S, D>) {
    this.cache = new LRUCache({
      maxSize: options.maxCachedEvents ?? MAX_CACHED_EVENTS,
      sizeCalculation: (kept) => Number(kept.revision) + 2,
    });
  }

  /** What memory holds; it may be behind. */
  cached(stream: string): View<S> | undefined {
    return this.cache.get(stream);
  }

  /** The state as of the stream's end, read now; `known` spares the events that it was folded from. */
  async fresh(stream: string, tenantId: string, known = this.cached(stream)): Promise<View<S>> {
    const caughtUp = known && (await this.catchUp(stream, known as Kept<S>));
    if (!caughtUp) this.forget(stream);
    return this.keep(stream, tenantId, caughtUp ?? (await this.load(stream, tenantId)));
  }

  /** The state behind events that were just stored. */
  advance(
    stream: string,
    tenantId: string,
    before: View<S>,
    events: readonly Folded<D>[],
    end: Omit<View<S>, 'state'>,
  ): View<S> {
    const { snapshotAt } = before as Kept<S>;
    const state = events.reduce((folded, event) => this.options.decider.evolve(folded, event), before.state);
    return this.keep(stream, tenantId, { state, ...end, snapshotAt });
  }

  /** What memory holds is not of this log. */
  forget(stream: string): void {
    this.cache.delete(stream);
  }

  /** Resolves once no snapshot is being written. */
  async idle(): Promise<void> {
    await Promise.all(this.saving);
  }

  private async catchUp(stream: string, kept: Kept<S>): Promise<Kept<S> | undefined> {
    if (kept.revision < 0n) return undefined;
    return this.fold(this.options.store.readStream(stream, { from: kept.revision + 1n }), kept);
  }

  private async load(stream: string, tenantId: string): Promise<Kept<S>> {
    const start: Kept<S> = {
      state: this.options.decider.initial,
      revision: -1n,
      position: -1n,
      digest: null,
      snapshotAt: -1n,
    };
    const snapshot = await this.readSnapshot(stream, tenantId);
    const behind = snapshot && (await this.loadBehind(stream, snapshot));
    return behind ?? ((await this.fold(this.options.store.readStream(stream), start)) as Kept<S>);
  }

  /** Reads the snapshot's own last event too: its digest proves that the snapshot is of this log. */
  private async loadBehind(stream: string, snapshot: Kept<S>): Promise<Kept<S> | undefined> {
    const events = this.options.store.readStream(stream, { from: snapshot.revision })[Symbol.asyncIterator]();
    const first = await events.next();
    if (first.done || first.value.metadata['digest'] !== snapshot.digest) {
      await events.return?.();
      return undefined;
    }
    return this.fold({ [Symbol.asyncIterator]: () => events }, snapshot);
  }

  /** Undefined where the events do not follow on what they are to be folded onto. At a stream's start anything follows. */
  private async fold(events: AsyncIterable<StoredEvent>, from: Kept<S>): Promise<Kept<S> | undefined> {
    let { state, revision, position, digest } = from;
    for await (const event of events) {
      const { meta, ...decoded } = this.options.codec.decode(event);
      if (revision === from.revision && revision >= 0n && meta.previousDigest !== digest) return undefined;
      const { type, data, key } = decoded;
      const folded = { type, data, revision: event.revision, ...(key && { key }) };
      state = this.options.decider.evolve(state, folded as unknown as Folded<D>);
      ({ revision, position } = event);
      digest = meta.digest;
    }
    return { state, revision, position, digest, snapshotAt: from.snapshotAt };
  }

  private keep(stream: string, tenantId: string, kept: Kept<S>): View<S> {
    const { snapshots } = this.options;
    const due = snapshots && kept.revision - kept.snapshotAt >= BigInt(snapshots.every ?? SNAPSHOT_EVERY);
    const entry = due ? { ...kept, snapshotAt: kept.revision } : kept;
    const cached = this.cache.peek(stream);
    if (!cached || cached.revision <= entry.revision) this.cache.set(stream, entry);
    if (due) this.writeSnapshot(stream, tenantId, kept, snapshots);
    return entry;
  }

  private writeSnapshot(stream: string, tenantId: string, view: View<S>, snapshots: Snapshots<S>): void {
    const write = async () => {
      const { version, store } = snapshots;
      const { revision } = view;
      const state = snapshots.serialize(view.state) as Json;
      const content = { position: String(view.position), digest: view.digest, state };
      const keys = await this.options.codec.keysOf(stream, tenantId);
      const sealed = await keys.seal(placeOf(stream, version, revision), content);
      await store.replace({ stream, version, revision, sealed });
    };
    const saving: Promise<void> = write()
      .catch((error: unknown) => this.options.onSnapshotFailed?.(stream, error))
      .finally(() => this.saving.delete(saving));
    this.saving.add(saving);
  }

  private async readSnapshot(stream: string, tenantId: string): Promise<Kept<S> | undefined> {
    const { snapshots } = this.options;
    try {
      const row = await snapshots?.store.read(stream);
      if (!snapshots || !row || row.version !== snapshots.version) return undefined;
      const { version, revision } = row;
      const keys = await this.options.codec.keysOf(stream, tenantId);
      const content = (await keys.open(placeOf(stream, version, revision), row.sealed)) as unknown as SnapshotContent;
      const state = snapshots.deserialize(content.state as never);
      if (state === undefined) return undefined;
      const { digest, position } = content;
      return { state, revision, position: BigInt(position), digest, snapshotAt: revision };
    } catch (error) {
      this.options.onSnapshotFailed?.(stream, error);
      return undefined;
    }
  }
}

const placeOf = (stream: string, version: number, revision: Revision) => ({
  stream,
  id: `${version}@${revision}`,
  type: 'snapshot',
  field: 'state',
});
