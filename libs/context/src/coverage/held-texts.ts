import type { NodeId } from '@palimpsest/conversation';
import type { Source } from '../items';
import type { Segment } from '../segment';

/** What stands in a request, as its stored pieces say it. */
export class HeldTexts {
  private readonly places = new Set<string>();
  private readonly nodes = new Set<NodeId>();
  /** Nodes whose summaries it holds, in its order. */
  readonly summaries: ReadonlySet<NodeId>;

  /** `segments`: sources in another stream than that of the request's own conversation name it. */
  constructor(segments: readonly Segment[]) {
    const summaries = new Set<NodeId>();
    for (const { kind, nodeId, source } of segments.flat()) {
      if (source) this.places.add(placeOf(source));
      if (nodeId !== null) (kind === 'summary' ? summaries : this.nodes).add(nodeId);
    }
    this.summaries = summaries;
  }

  /** Whether a text of it comes from there. */
  has(source: Source): boolean {
    return this.places.has(placeOf(source));
  }

  /** Whether a message of it is this node's own, and no summary. */
  hasMessageOf(nodeId: NodeId): boolean {
    return this.nodes.has(nodeId);
  }
}

const placeOf = ({ stream = '', revision, pointer }: Source): string => `${stream}@${revision}${pointer}`;
