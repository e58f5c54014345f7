import type { RotatableKeyStore } from './key-store';
import { installationKeyId, unwrapKey, wrapKey } from './wrap';

export interface RotationOptions {
  /** Newest first: the first one wraps from now on. */
  readonly installation: readonly [Uint8Array, ...Uint8Array[]];
  readonly store: RotatableKeyStore;
  /** Rows in one transaction. */
  readonly batch?: number;
  readonly onProgress?: (rewrapped: number) => void;
  readonly signal?: AbortSignal;
}

export interface Rotation {
  readonly rewrapped: number;
  /** Keys that hang on an installation's key that is not here, or do not open: by its id, how many. They stay as they are. */
  readonly left: ReadonlyMap<string, number>;
}

/** Passes over the rows before it gives up on processes that still make keys under the old one. */
const MOST_PASSES = 20;

/**
 * Wraps every key that hangs on an older key of the installation under the newest one. No event changes and no other key does. A crash at
 * any instant leaves each row under one key or the other, and the next run goes on; a key that is destroyed meanwhile stays destroyed. The
 * last pass is the check that nothing is left.
 */
export async function rotateInstallationKey(options: RotationOptions): Promise<Rotation> {
  let rewrapped = 0;
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const { changed, left } = await onePass(options, (more) => options.onProgress?.(rewrapped + more));
    rewrapped += changed;
    if (changed === 0) return { rewrapped, left };
  }
  throw new Error(
    'Keys are still being made under an old key of the installation. Give every process the new one first.',
  );
}

async function onePass(
  { installation, store, batch = 500, signal }: RotationOptions,
  onProgress: (changed: number) => void,
): Promise<{ readonly changed: number; readonly left: ReadonlyMap<string, number> }> {
  const [current] = installation;
  const wrappedBy = installationKeyId(current);
  const known = new Map(installation.map((key) => [installationKeyId(key), key]));
  const left = new Map<string, number>();
  let changed = 0;
  for (let after = ''; ;) {
    signal?.throwIfAborted();
    const rows = await store.hangingElsewhere(wrappedBy, after, batch);
    const changes = rows.flatMap((old) => {
      const wrapping = known.get(old.wrappedBy);
      const key = wrapping && unwrapKey(old.wrapped, old.id, old.wrappedBy, wrapping);
      if (!key) left.set(old.wrappedBy, (left.get(old.wrappedBy) ?? 0) + 1);
      return key ? [{ old, wrappedBy, wrapped: wrapKey(key, old.id, wrappedBy, current) }] : [];
    });
    if (changes.length) changed += await store.rewrap(changes);
    onProgress(changed);
    const last = rows.at(-1);
    if (!last) return { changed, left };
    after = last.id;
  }
}
