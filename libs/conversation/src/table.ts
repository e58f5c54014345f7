/**
 * A map from strings that is never changed: `set` gives a new one that shares all but a few small arrays with the old. A hash trie, 32
 * ways a level, so `get` and `set` cost the same few steps at ten entries and at ten thousand. A plain object copied at each event would
 * make folding a conversation quadratic in its length.
 */
export class Table<V> implements Iterable<readonly [string, V]> {
  private constructor(
    private readonly root: Branch<V>,
    readonly size: number,
  ) {}

  static empty<V>(): Table<V> {
    return new Table<V>([], 0);
  }

  static from<V>(entries: Iterable<readonly [string, V]>): Table<V> {
    let table = Table.empty<V>();
    for (const [key, value] of entries) table = table.set(key, value);
    return table;
  }

  get(key: string): V | undefined {
    const hash = hashOf(key);
    let slot: Slot<V> = this.root;
    for (let shift = 0; isBranch(slot); shift += BITS) slot = slot[(hash >>> shift) & MASK];
    return slot?.hash === hash ? slot.entries.find(([known]) => known === key)?.[1] : undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: V): Table<V> {
    const leaf: Leaf<V> = { hash: hashOf(key), entries: [[key, value]] };
    return new Table(insert(this.root, leaf, 0), this.size + (this.has(key) ? 0 : 1));
  }

  /** In no particular order. */
  [Symbol.iterator](): Iterator<readonly [string, V]> {
    return entriesOf(this.root).values();
  }

  toJSON(): (readonly [string, V])[] {
    return [...this];
  }
}

const BITS = 5;
const MASK = 31;
const { imul } = Math;

type Entry<V> = readonly [string, V];
/** Several entries only where two keys share all 32 bits. */
interface Leaf<V> {
  readonly hash: number;
  readonly entries: readonly Entry<V>[];
}
type Branch<V> = readonly Slot<V>[];
type Slot<V> = Leaf<V> | Branch<V> | undefined;

const isBranch = <V>(slot: Slot<V>): slot is Branch<V> => Array.isArray(slot);

function insert<V>(branch: Branch<V>, leaf: Leaf<V>, shift: number): Branch<V> {
  const index = (leaf.hash >>> shift) & MASK;
  const copy = branch.slice();
  const old = copy[index];
  if (isBranch(old)) copy[index] = insert(old, leaf, shift + BITS);
  else if (!old) copy[index] = leaf;
  else if (old.hash === leaf.hash) copy[index] = merge(old, leaf);
  else copy[index] = insert(insert([], old, shift + BITS), leaf, shift + BITS);
  return copy;
}

function merge<V>(old: Leaf<V>, { hash, entries }: Leaf<V>): Leaf<V> {
  return { hash, entries: [...old.entries.filter(([key]) => key !== entries[0]?.[0]), ...entries] };
}

/** Into one list: handing each entry up through a generator for each level takes several times as long. */
function entriesOf<V>(branch: Branch<V>, into: Entry<V>[] = []): readonly Entry<V>[] {
  for (const slot of branch) {
    if (isBranch(slot)) entriesOf(slot, into);
    else if (slot) into.push(...slot.entries);
  }
  return into;
}

/** FNV-1a over UTF-16 units, with a last mix so that ids that differ in one digit spread over the first levels. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash = imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
