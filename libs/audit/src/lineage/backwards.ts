import { resolveManifest } from '@palimpsest/context';
import { NoExactRequest, ReplayBroken, type RequestPlaces } from '../replay';
import type { Route } from './holdings';
import type { Origin, RequestRouting, RoutingPlace } from './routing';
import type { RequestRoutings } from './routings';

/** An event on which an answer rests. */
export interface RestsOn {
  /** `<stream>@<revision>`. */
  readonly place: string;
  /** Of a summary: its node. */
  readonly summary?: string;
  /** In the order in which it is met. */
  readonly via: ReadonlySet<Route>;
  /** The summaries through which it is. */
  readonly summaries: ReadonlySet<string>;
}

type Found = Map<string, { place: string; summary?: string; via: Set<Route>; summaries: Set<string> }>;

/** Everything that a request held, by what it recorded; what a summary in it was made of, by what the summary's own request recorded. */
export class Backwards {
  constructor(
    private readonly routings: RequestRoutings,
    private readonly places: RequestPlaces,
    /** The statements that a state block shows, which stands in the request of a turn's first node. */
    private readonly shownBy: (owner: RequestRouting) => Promise<readonly string[]>,
  ) {}

  /** Each event once, in the order of the request; what a summary is made of stands behind it. */
  async restsOn(node: RoutingPlace): Promise<readonly RestsOn[]> {
    const found: Found = new Map();
    await this.add(node, found, new Set(), []);
    return [...found.values()];
  }

  private async add(node: RoutingPlace, found: Found, visited: Set<string>, summaries: readonly string[]) {
    visited.add(node.nodeId);
    for (const { origin, owner } of await this.originsOf(node)) {
      const { kind, nodeId, place } = origin;
      if (place === undefined) continue;
      if (kind === 'state') {
        for (const statement of await this.shownBy(owner)) put(found, statement, 'state', summaries);
      } else if (kind === 'summary' && nodeId !== null && nodeId !== node.nodeId) {
        put(found, place, 'verbatim', summaries).summary = nodeId;
        if (visited.has(nodeId)) continue;
        await this.add(await this.find(nodeId, node.conversationId), found, visited, [...summaries, nodeId]);
      } else put(found, place, 'verbatim', summaries);
    }
  }

  /** The origins of a request's segments, in order, each with whoever stored it. */
  private async originsOf(node: RoutingPlace): Promise<readonly { origin: Origin; owner: RequestRouting }[]> {
    const read = new Map<string, RequestRouting>();
    await this.routings.load([node], read);
    const own = read.get(node.nodeId);
    if (!own) throw new ReplayBroken(`The request of node ${node.nodeId} is not where the tree says that it stands.`);
    if (own.manifest.length === 0) throw new NoExactRequest(`Node ${node.nodeId} was imported: its request is not known.`); // prettier-ignore
    for (;;) {
      const resolved = resolveManifest(node.nodeId, (id) => read.get(id)?.manifest);
      if ('missing' in resolved) {
        await this.loadByNode([resolved.missing], node.conversationId, read);
        continue;
      }
      const absent = new Set(resolved.places.map(({ owner }) => owner).filter((owner) => !read.has(owner)));
      if (absent.size > 0) await this.loadByNode([...absent], node.conversationId, read);
      return resolved.places.flatMap(({ owner: id, index }) => {
        const owner = read.get(id) as RequestRouting;
        return (owner.segments[index] ?? []).map((origin) => ({ origin, owner }));
      });
    }
  }

  private async loadByNode(nodeIds: readonly string[], conversationId: string, into: Map<string, RequestRouting>) {
    const places = await this.places.requests(nodeIds, conversationId);
    await this.routings.load([...places].map(([nodeId, at]) => ({ nodeId, ...at })), into); // prettier-ignore
    const unknown = nodeIds.find((nodeId) => !into.has(nodeId));
    if (unknown !== undefined)
      throw new ReplayBroken(`Node ${unknown} is part of the request, and its own is not where the tree says.`);
  }

  private async find(nodeId: string, conversationId: string): Promise<RoutingPlace> {
    const at = (await this.places.requests([nodeId], conversationId)).get(nodeId);
    if (!at) throw new ReplayBroken(`Summary ${nodeId} is part of the request, and the tree does not know it.`);
    return { nodeId, ...at };
  }
}

function put(found: Found, place: string, route: Route, summaries: readonly string[]) {
  const known = found.get(place) ?? { place, via: new Set<Route>(), summaries: new Set<string>() };
  found.set(place, known);
  const nearest = summaries.at(-1);
  known.via.add(nearest === undefined ? route : 'summary');
  if (nearest !== undefined) known.summaries.add(nearest);
  return known;
}
