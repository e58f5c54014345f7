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

/** A row to be wrapped anew: it is replaced only where it is still the one that was read, so that no rotation undoes a destruction. */
export interface Rewrapping {
  readonly old: KeyRow & { readonly wrapped: Uint8Array };
  readonly wrappedBy: string;
  readonly wrapped: Uint8Array;
}

/** What a rotation of the installation's key needs. */
export interface RotatableKeyStore extends KeyStore {
  /** Living rows that hang on an installation's key other than this one, by id, after an id. */
  hangingElsewhere(
    installationKeyId: string,
    after: string,
    limit: number,
  ): Promise<readonly (KeyRow & { readonly wrapped: Uint8Array })[]>;
  /** All of them or none in one transaction; answers how many were still as they were read. */
  rewrap(changes: readonly Rewrapping[]): Promise<number>;
}
