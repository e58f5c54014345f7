import type { NodeBelow } from '@palimpsest/read-models';
import { LRUCache } from 'lru-cache';
import { type After, type Anchor, Below, type ForwardTree } from './below';
import { type Held, Holdings, type Route, type Sought } from './holdings';
import { placeOf, type RequestRouting } from './routing';
import type { RequestRoutings } from './routings';

/** Requests that are looked at together. */
const STEP = 64;
/** Nodes of trees that are kept, at about 0.5 KiB each. */
const KEPT_NODES = 200_000;
const ROUTES = ['verbatim', 'folded', 'summary', 'state'] as const satisfies readonly Route[];

/** An answer whose request held what was asked about. */
export interface HeldBy {
  readonly node: NodeBelow;
  /** It stands on the branch that its conversation's head is on. */
  readonly current: boolean;
  readonly via: readonly Route[];
  /** The summaries that it was inside of. */
  readonly summaries: readonly string[];
}

/** What is asked about. */
export interface Search {
  readonly anchor: Anchor;
  /** A node that is not told of what it holds itself. */
  readonly except?: string;
  /** `folds`: by the place of the event that folded it, the call whose result is folded. */
  sought(folds: ReadonlyMap<string, string>): Sought;
  /** Looks up what `sought` has to know of requests before it is asked about them. */
  prepare?(routings: ReadonlyMap<string, RequestRouting>): Promise<void>;
}

export interface PageOf {
  readonly limit: number;
  readonly after?: After | undefined;
  /** So many requests are looked at for one page, about. */
  readonly maxRequests: number;
}

export interface HeldByPage {
  readonly items: readonly HeldBy[];
  /** Undefined: that was all. */
  readonly next?: After | undefined;
}

/** Every answer whose request held something, on any branch, and in the conversations that grow from there. */
export class Forwards {
  private readonly kept = new LRUCache<string, { readonly asOf: string; readonly below: Below }>({
    maxSize: KEPT_NODES,
    sizeCalculation: ({ below }) => below.nodes.length + 1,
  });

  constructor(
    private readonly tree: ForwardTree,
    private readonly routings: RequestRoutings,
  ) {}

  async heldBy(search: Search, { limit, after, maxRequests }: PageOf): Promise<HeldByPage> {
    const below = await this.below(search.anchor);
    const looking = new Looking(below, this.routings, search, search.sought(await this.folds(below)));
    const items: HeldBy[] = [];
    const rest = below.following(after).filter((node) => node.status === 'succeeded' && node.node_id !== search.except); // prettier-ignore
    for (let from = 0; from < rest.length; from += STEP) {
      const step = rest.slice(from, from + STEP);
      for (const [at, held] of (await looking.at(step)).entries()) {
        const node = step[at] as NodeBelow;
        if (held.length === 0) continue;
        if (items.length === limit) return { items, next: below.placeOf((items.at(-1) as HeldBy).node) };
        items.push({ node, current: below.isCurrent(node.node_id), ...told(held) });
      }
      const isLast = from + STEP >= rest.length;
      if (!isLast && from + STEP >= maxRequests) return { items, next: below.placeOf(step.at(-1) as NodeBelow) };
    }
    return { items };
  }

  /** Kept from page to page, as long as nothing was said in any of the conversations. */
  private async below(anchor: Anchor): Promise<Below> {
    const conversations = await this.tree.grownFrom(anchor.conversationId);
    const asOf = conversations.map(({ conversation_id, revision }) => `${conversation_id}@${revision}`).join(' ');
    const name = `${anchor.conversationId} ${anchor.nodeId} ${anchor.revision}`;
    const known = this.kept.get(name);
    if (known?.asOf === asOf) return known.below;
    const below = await Below.of(this.tree, anchor, conversations);
    this.kept.set(name, { asOf, below });
    return below;
  }

  private async folds({ conversations }: Below): Promise<ReadonlyMap<string, string>> {
    const rows = await this.tree.folds(conversations.map((row) => row.conversation_id));
    return new Map(rows.map((row) => [placeOf(row.conversation_id, row.revision), row.tool_call_id]));
  }
}

const told = (held: readonly Held[]): Pick<HeldBy, 'via' | 'summaries'> => ({
  via: ROUTES.filter((route) => held.some((one) => one.route === route)),
  summaries: [...new Set(held.flatMap(({ summary }) => summary ?? []))],
});

/** What is known of the requests that were read for one page. */
class Looking {
  private readonly read = new Map<string, RequestRouting>();
  private holdings: Holdings;

  constructor(
    private readonly below: Below,
    private readonly routings: RequestRoutings,
    private readonly search: Search,
    private readonly sought: Sought,
  ) {
    this.holdings = this.begin();
  }

  /** Of each of these nodes what its request holds. */
  async at(nodes: readonly NodeBelow[]): Promise<readonly (readonly Held[])[]> {
    await this.load(nodes.map(({ node_id }) => node_id));
    for (;;) {
      const held = nodes.map(({ node_id }) => this.holdings.of(node_id));
      const { missing } = this.holdings;
      if (missing.size === 0) return held;
      // What is looked at anew may rest on them.
      await this.load(missing);
      this.holdings = this.begin();
      // Nobody can read what was erased.
      if ([...missing].every((nodeId) => !this.read.has(nodeId))) return held;
    }
  }

  private async load(nodeIds: Iterable<string>): Promise<void> {
    await this.routings.load(this.below.withAncestors(nodeIds).values(), this.read);
    await this.search.prepare?.(this.read);
  }

  private begin(): Holdings {
    const isBelow = (nodeId: string) => this.below.get(nodeId) !== undefined;
    return new Holdings({ routings: this.read, sought: this.sought, isBelow });
  }
}
