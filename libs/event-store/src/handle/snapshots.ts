import type { Revision } from '../port';

/** One row a stream. Disposable: losing it costs one read of the whole stream. */
export interface SnapshotRow {
  readonly stream: string;
  readonly version: number;
  readonly revision: Revision;
  readonly sealed: string;
}

export interface SnapshotStore {
  read(stream: string): Promise<SnapshotRow | null>;
  /** Replaces the stream's row, unless that is of the same version and later. */
  replace(row: SnapshotRow): Promise<void>;
  /** Of a stream that is over. Idempotent. */
  remove(stream: string): Promise<void>;
}

/** How a decider's state is kept. */
export interface Snapshots<S> {
  readonly store: SnapshotStore;
  /** Goes up with every change of the state's shape or of what `evolve` makes of events: snapshots of another version are ignored. */
  readonly version: number;
  /** JSON. */
  serialize(state: S): unknown;
  deserialize(json: never): S | undefined;
  /** Events after which the row is replaced. */
  readonly every?: number;
}

export const SNAPSHOT_EVERY = 200;

/** For unit tests. */
export class MemorySnapshotStore implements SnapshotStore {
  readonly rows = new Map<string, SnapshotRow>();

  async read(stream: string): Promise<SnapshotRow | null> {
    return this.rows.get(stream) ?? null;
  }

  async replace(row: SnapshotRow): Promise<void> {
    const old = this.rows.get(row.stream);
    if (!old || old.version !== row.version || old.revision < row.revision) this.rows.set(row.stream, row);
  }

  async remove(stream: string): Promise<void> {
    this.rows.delete(stream);
  }
}
