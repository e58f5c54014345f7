import { v5, v7 } from 'uuid';

/** Luck as an argument. */
export interface Ids {
  /** A new uuid v7, lower case: random, and in order of making within a process. */
  next(): string;
}

export const randomIds: Ids = { next: () => v7() };

/** Palimpsest's own namespace. Ids of stored streams hang on it: it never changes. */
const namespace = 'a2f8e2f4-6c1b-5d0e-9b7a-3f0c5d1e8a64';

/** The uuid v5 of these parts in this order. Parts never run into each other: ('ab', 'c') and ('a', 'bc') differ. */
export function derivedId(...parts: readonly string[]): string {
  return v5(JSON.stringify(parts), namespace);
}
