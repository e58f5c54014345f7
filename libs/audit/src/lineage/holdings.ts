import type { Origin, RequestRouting } from './routing';

/**
 * How a request holds something: as it was said; as the one line that stands in for a folded result; inside a summary; as a value in the state
 * block.
 */
export type Route = 'verbatim' | 'folded' | 'summary' | 'state';

/** Something that is held, at a segment of a request. */
export interface Held {
  readonly segment: number;
  readonly route: Route;
  /** The summary that it is inside of. */
  readonly summary?: string;
}

/** Whether a piece of a request, which `owner` stored, is what is sought. */
export type Sought = (origin: Origin, owner: RequestRouting) => Exclude<Route, 'summary'> | undefined;

export interface HoldingsOptions {
  readonly routings: ReadonlyMap<string, RequestRouting>;
  readonly sought: Sought;
  /** Whether a request can hold it at all: it is below what it was said at. */
  readonly isBelow: (nodeId: string) => boolean;
}

/**
 * Which segments of which requests hold something, by what the requests recorded: a segment that a manifest copies from an earlier request is
 * held as it is there. Nothing is assembled again.
 */
export class Holdings {
  /** Requests that the answer needs and that were not given: of none of them anything is known. */
  readonly missing = new Set<string>();
  private readonly known = new Map<string, readonly Held[]>();

  constructor(private readonly options: HoldingsOptions) {}

  of(nodeId: string): readonly Held[] {
    const known = this.known.get(nodeId);
    if (known) return known;
    const routing = this.routingOf(nodeId);
    const held = routing ? this.read(routing) : [];
    this.known.set(nodeId, held);
    return held;
  }

  private read(routing: RequestRouting): readonly Held[] {
    const held: Held[] = [];
    let at = 0;
    for (const part of routing.manifest) {
      const [from, to] = 'here' in part ? [part.here, part.to] : [part.from, part.to];
      if ('copy' in part) {
        for (const one of this.options.isBelow(part.copy) ? this.of(part.copy) : [])
          if (one.segment >= from && one.segment < to) held.push({ ...one, segment: at + one.segment - from });
      } else {
        const owner = 'here' in part ? routing : this.routingOf(part.own);
        for (let index = from; owner && index < to; index += 1)
          for (const one of this.inSegment(owner, index)) held.push({ ...one, segment: at + index - from });
      }
      at += to - from;
    }
    return held;
  }

  private routingOf(nodeId: string): RequestRouting | undefined {
    if (!this.options.isBelow(nodeId)) return undefined;
    const routing = this.options.routings.get(nodeId);
    if (!routing) this.missing.add(nodeId);
    return routing;
  }

  private inSegment(owner: RequestRouting, index: number): readonly Omit<Held, 'segment'>[] {
    return (owner.segments[index] ?? []).flatMap((origin): readonly Omit<Held, 'segment'>[] => {
      const route = this.options.sought(origin, owner);
      if (route) return [{ route }];
      const { kind, nodeId } = origin;
      const isInside = kind === 'summary' && nodeId !== null && nodeId !== owner.nodeId && this.of(nodeId).length > 0;
      return isInside ? [{ route: 'summary', summary: nodeId }] : [];
    });
  }
}
