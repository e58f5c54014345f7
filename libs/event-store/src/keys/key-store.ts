/**
 * Where wrapped keys are kept: apart from the log, since they can't be rebuilt, and since destroying one erases what it sealed while the
 * log does not change.
 */
export interface KeyRow {
  readonly id: string;
  /** The key that wraps this one: another row's id, or `installation-<fingerprint>`. */
  readonly wrappedBy: string;
  /** Null once destroyed. The row stays, so that nobody makes the key anew, and `destroyed` is told from `lost`. */
  readonly wrapped: Uint8Array | null;
}

export interface KeyStore {
  /** The row, then the row that wraps it, and so on, read at one instant. Empty where there is no such key. */
  chain(id: string): Promise<readonly KeyRow[]>;
  /** Inserts, unless the id is there already, destroyed or not: of two processes that make the same key, one makes it. */
  insert(row: KeyRow): Promise<void>;
  /** Deletes the wrapped bytes and leaves the mark. Also where there is no such row: a restored backup may lack it. */
  destroy(id: string): Promise<void>;
}
