import { createHash } from 'node:crypto';
import type { JsonObject, Revision, StoredEvent } from '../port';
import { canonical } from '../sealing/canonical';
import { metaOf } from './metadata';

export interface Digestible {
  readonly stream: string;
  readonly revision: Revision;
  readonly id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}

/** SHA-256, base64url, over the canonical form of the whole event, its own `digest` left out and `previousDigest` in. */
export function digestOf({ stream, revision, id, type, data, metadata }: Digestible): string {
  const { digest: _, ...rest } = metadata;
  const text = canonical({ stream, revision: String(revision), id, type, data, metadata: rest });
  return createHash('sha256').update(text).digest('base64url');
}

export interface ChainFault {
  readonly revision: Revision;
  /**
   * `changed`: the event is not the one that was digested. `missing`: revisions leave a gap. `out_of_order`: a revision again, or an
   * earlier one. `unlinked`: the event before it is not the one that stood there when it was written.
   */
  readonly fault: 'changed' | 'missing' | 'out_of_order' | 'unlinked';
}

export interface Link {
  readonly revision: Revision;
  readonly digest: string;
}

export type ChainReport =
  /** `last` is what a later check, or an anchor, goes on from; null for no events at all. */
  { readonly ok: true; readonly last: Link | null } | { readonly ok: false; readonly faults: readonly ChainFault[] };

/**
 * Checks events of one stream, in the order of a read, from its start or from behind `after`. What was cut off at the end shows only
 * against an anchor that is kept elsewhere; so does a chain that was computed anew.
 */
export function verifyChain(events: Iterable<StoredEvent>, after: Link | null = null): ChainReport {
  const faults: ChainFault[] = [];
  let last = after;
  for (const event of events) {
    const expected = last === null ? 0n : last.revision + 1n;
    const { digest, previousDigest } = metaOf(event);
    if (event.revision > expected) faults.push({ revision: expected, fault: 'missing' });
    if (event.revision < expected) faults.push({ revision: event.revision, fault: 'out_of_order' });
    if (digestSafely(event) !== digest) faults.push({ revision: event.revision, fault: 'changed' });
    if (previousDigest !== (last?.digest ?? null)) faults.push({ revision: event.revision, fault: 'unlinked' });
    last = { revision: event.revision, digest };
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, last };
}

/** A stored event may have been changed into one that has no canonical form. */
function digestSafely(event: StoredEvent): string | null {
  try {
    return digestOf(event);
  } catch {
    return null;
  }
}
