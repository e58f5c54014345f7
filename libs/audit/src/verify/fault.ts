import type { EventPlace } from '@palimpsest/event-store';

/**
 * What is wrong with a place of the log.
 *
 * `changed`: what stands there is not what was written there. `missing`: the events around it say that one stood between them.
 * `inserted`: it was not written there; its neighbours say, or an anchor, that nothing stood between them. `reordered`: it was written at
 * another place. `cut_off`: an anchor saw the stream go on further. `rewritten`: it is sound by itself, but an anchor saw another one:
 * whoever could write the log computed the chain anew. `hole`: the store gives positions without holes, and here is one.
 * `seal_broken`, `payload_broken`: what is sealed does not open, or is not there. `request_differs`: a request does not have the digest
 * that was recorded. `anchor_broken`, `anchor_missing`, `anchor_differs`, `anchor_untrusted`: not signed by the key that it names, left
 * out, two of one number, or signed by a key that is not one of those given.
 */
export type FaultKind =
  | 'anchor_broken'
  | 'anchor_differs'
  | 'anchor_missing'
  | 'anchor_untrusted'
  | 'changed'
  | 'cut_off'
  | 'hole'
  | 'inserted'
  | 'missing'
  | 'payload_broken'
  | 'reordered'
  | 'request_differs'
  | 'rewritten'
  | 'seal_broken';

export interface Fault {
  readonly kind: FaultKind;
  /** Null where only a position, or an anchor outside the log, is known. */
  readonly stream: string | null;
  readonly revision: bigint | null;
  /** Where it is not one event: the last one of them. */
  readonly through: bigint | null;
  readonly position: bigint | null;
  readonly id: string | null;
  readonly type: string | null;
  /** A sentence. */
  readonly detail: string;
}

export function faultAt(kind: FaultKind, place: EventPlace, detail: string): Fault {
  const { stream, revision, position, id, type } = place;
  return { kind, stream, revision, through: null, position, id, type, detail };
}

/** Of events that are not there. */
export function absence(
  kind: FaultKind,
  stream: string | null,
  revisions: readonly [first: bigint, last: bigint] | null,
  detail: string,
  position: bigint | null = null,
): Fault {
  const [revision, last] = revisions ?? [null, null];
  return {
    ...{ kind, stream, revision, through: last === revision ? null : last, position },
    ...{ id: null, type: null, detail },
  };
}
