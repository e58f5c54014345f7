import {
  coveredOn,
  type Milestone,
  MILESTONE_EVERY,
  NO_MILESTONE,
  type NodePlace,
  type NodeRecord,
  type OpenedEvent,
  PathFold,
  type PlacedSegment,
  type ReadItems,
  resolveManifest,
  restoreSegment,
  type SegmentPlace,
  type StoredRequest,
} from '@palimpsest/context';
import type { ConversationSource, EventOf, NodeId } from '@palimpsest/conversation';
import {
  type ConversationLog,
  type ConversationRecord,
  conversationStream,
  type ConversationTree,
  eventsOfNodes,
  type NodeEvents,
  type PathRow,
} from '@palimpsest/read-models';
import { LRUCache } from 'lru-cache';
import { beginningOf } from './cut-appends';

/** What this process holds of a conversation: the events of the paths that it assembled, opened, and all since. */
export interface HeldPaths {
  readonly conversationId: string;
  readonly fold: PathFold;
  /** All events up to here are in, or belong to paths that nobody asked for. */
  through: bigint;
  /** Requests by node, for the nodes that the next request most likely grows from. */
  readonly placed: LRUCache<string, readonly PlacedSegment[]>;
  /** Requests that were read alone: of nodes that a summary stands for, and that later requests copy from. */
  readonly requests: Map<string, RequestAt>;
}

/** What an assembly asks for: the path to a node, as of a revision of the stream. */
export interface PathWanted {
  readonly conversationId: string;
  readonly nodeId: string | null;
  readonly revision: bigint;
  /** Where the running turn began, or the call is decided: what came since is read from the stream, whatever the read model has. */
  readonly turnStartedAt: bigint;
}

/** A node's request, and in whose stream it stands where that is another conversation's. */
type RequestAt = Pick<NodeRecord, 'request' | 'stream'>;

/** The revision of a request in the conversation's own stream; undefined where that is not known, or it stands in another. */
type RequestedAt = (nodeId: NodeId) => number | undefined;

const REQUESTS_HELD = 4;
/** Of a conversation of which nothing is held yet. */
const FIXED_BYTES = 4096;
/** The text, the wire's bytes that are kept of it, and what stands around both. */
const BYTES_PER_CHARACTER = 4;

/**
 * Context paths. A path is read by one recursive query over the node tree and the events that it names; what the read model has not
 * reached is read from the end of the conversation's own stream, so no turn waits for a projector. What this process appends is put in.
 */
export class Paths {
  private readonly held: LRUCache<string, HeldPaths>;

  constructor(
    private readonly log: ConversationLog,
    private readonly tree: Pick<ConversationTree, 'path' | 'conversation' | 'requests'>,
    private readonly readItems: ReadItems,
    /** The conversations from which one grows, the nearest first. */
    private readonly sourcesOf: (conversationId: string) => Promise<readonly ConversationSource[]>,
    /** Bytes of conversations that are held, about. */
    maxBytes: number,
  ) {
    const sizeCalculation = ({ fold }: HeldPaths) => FIXED_BYTES + BYTES_PER_CHARACTER * fold.size;
    this.held = new LRUCache({ maxSize: maxBytes, sizeCalculation });
  }

  /** Of events that were stored by this process, in order. */
  put(conversationId: string, events: readonly OpenedEvent[]): void {
    const held = this.held.get(conversationId);
    if (!held) return;
    for (const event of events) {
      if (event.revision !== held.through + 1n) continue;
      held.fold.put(event);
      held.through = event.revision;
    }
    this.held.set(conversationId, held);
  }

  /** The request of a node that was stored by this process. */
  place(conversationId: string, nodeId: string, placed: readonly PlacedSegment[]): void {
    this.held.get(conversationId)?.placed.set(nodeId, placed);
  }

  forget(conversationId: string): void {
    this.held.delete(conversationId);
  }

  async hold(wanted: PathWanted): Promise<HeldPaths> {
    const held = this.held.get(wanted.conversationId) ?? (await this.begin(wanted));
    if (held.through < wanted.revision) this.catchUp(held, await this.log.after(wanted.conversationId, held.through));
    await this.reach(held, wanted.nodeId);
    return held;
  }

  /** Reads the path to another node into what is held. */
  async reach(held: HeldPaths, nodeId: string | null): Promise<void> {
    for (;;) {
      const found = held.fold.pathTo(nodeId);
      if ('path' in found) return;
      await this.load(held, found.missing);
    }
  }

  /** Reads summaries that stand for runs of paths: nothing of the runs. What the tree does not know yet, its stream's end has told. */
  async readSummaries(held: HeldPaths, nodeIds: readonly NodeId[]): Promise<void> {
    const missing = nodeIds.filter((nodeId) => !held.fold.node(nodeId));
    if (missing.length === 0) return;
    const places = [...(await this.tree.requests(missing)).values()];
    const rows = places.map(({ conversationId: conversation_id, revision, ended }) => ({
      conversation_id,
      revisions: ended === null ? [revision] : [revision, ended],
    }));
    await this.readEvents(held.fold, held.conversationId, rows);
  }

  /** Reads how turns began, at these revisions of the conversation's own stream, and nothing of what they sent. */
  async readStarts({ conversationId, fold }: HeldPaths, revisions: readonly bigint[]): Promise<void> {
    for (const event of await this.log.at(conversationId, revisions)) fold.put(event);
  }

  /** Reads what these nodes sent and received, where a summary stood for them so far. Whether anything was read: their records are new then. */
  async complete(held: HeldPaths, nodes: readonly NodeRecord[]): Promise<boolean> {
    const unread = new Set(nodes.filter((node) => node.unread).map(({ nodeId }) => nodeId));
    const last = [...unread].at(-1);
    if (last === undefined) return false;
    // Of a path on which a compaction was expanded some stand before that.
    const { path } = await this.tree.path(held.conversationId, last, { lineage: true });
    const rows = path.filter(({ node_id }) => unread.has(node_id));
    await this.readEvents(held.fold, held.conversationId, rows);
    const missing = [...unread].find((nodeId) => held.fold.node(nodeId)?.unread);
    if (missing !== undefined)
      throw new Error(`Node ${missing} is on the path, and the tree does not have it any more.`);
    return true;
  }

  /**
   * The whole text of a result that is folded under this handle on the lineage of a node, also where a summary stands for it by now, or a
   * compaction that requests may hold expanded.
   */
  async foldedOn(held: HeldPaths, nodeId: NodeId, handle: string): Promise<string | undefined> {
    for (let id: NodeId | null = nodeId; id !== null;) {
      await this.reach(held, id);
      const path = pathTo(held.fold, id);
      const found = held.fold.foldedOn(id, handle);
      if (found !== undefined) return found;
      if (!(await this.complete(held, path))) id = path[0]?.origin ?? null;
    }
    return undefined;
  }

  /** The request of a path's last node as it was placed, root first; null for no node. `requestedAt`: where requests stand, as far as the caller knows. */
  async placed(
    held: HeldPaths,
    path: readonly NodeRecord[],
    requestedAt: RequestedAt = () => undefined,
  ): Promise<readonly PlacedSegment[] | null> {
    const last = path.at(-1);
    if (!last) return null;
    const known = held.placed.get(last.nodeId);
    if (known) return known;
    const requests = requestsOf(path);
    const places = await this.places(held, last.nodeId, requests);
    // Of what a compaction sent nothing stands in later requests but the parts in front of and behind all messages.
    const wanted = (at: number) => last.kind !== 'compaction' || at < 2 || at === places.length - 1;
    const owners = places.flatMap(({ owner }, at) => (wanted(at) && !requests.has(owner) ? [owner] : []));
    await this.readRequests(held, [...new Set(owners)], requests, requestedAt);
    const segments: PlacedSegment[] = [];
    for (const [at, { owner, index }] of places.entries()) {
      if (!wanted(at)) {
        segments.push({ owner, index, segment: [] });
        continue;
      }
      const { request, stream } = requests.get(owner) as RequestAt;
      const pieces = request.segments[index];
      if (!pieces)
        throw new Error(`The request of ${last.nodeId} names segment ${index} of ${owner}, which is not there.`);
      // A piece that has a source is known by it: its text is not looked up.
      segments.push({ owner, index, segment: restoreSegment(owner, pieces, () => '', stream) });
    }
    held.placed.set(last.nodeId, segments);
    return segments;
  }

  /**
   * What the next node's manifest refers to where that node is a milestone itself; undefined where it is none. One whose request holds a `fresh`
   * summary is one, so that none behind it leads back into the run that was summarised. The first node behind a
   * compaction is one: so no later replay and no later request leads back into the path that was compacted, but for a few segments by name.
   */
  async milestone(held: HeldPaths, path: readonly NodeRecord[], fresh: boolean): Promise<Milestone | undefined> {
    const depth = path.length + 1;
    if (fresh || path.at(-1)?.kind === 'compaction') return NO_MILESTONE;
    if (depth % MILESTONE_EVERY !== 0) return undefined;
    const before = path[depth - MILESTONE_EVERY - 1];
    const since = held.fold.segmentsOn(path.slice(depth - MILESTONE_EVERY));
    if (!before || since.length > 0) return NO_MILESTONE;
    const requests = requestsOf(path);
    return { nodeId: before.nodeId, places: await this.places(held, before.nodeId, requests) };
  }

  /** Where the segments of a request stand. `requests`: those of its path; what else its manifest leads to is read. */
  private async places(
    held: HeldPaths,
    nodeId: string,
    requests: Map<string, RequestAt>,
  ): Promise<readonly SegmentPlace[]> {
    for (;;) {
      const resolved = resolveManifest(nodeId, (id) => requests.get(id)?.request.manifest);
      if ('places' in resolved) return resolved.places;
      await this.readRequests(held, [resolved.missing], requests);
    }
  }

  /**
   * The requests of nodes before the nearest compaction, or that a summary stands for, into `requests`. What this process does not hold of them,
   * the tree knows.
   */
  private async readRequests(
    held: HeldPaths,
    nodeIds: readonly NodeId[],
    requests: Map<string, RequestAt>,
    requestedAt: RequestedAt = () => undefined,
  ): Promise<void> {
    for (const nodeId of nodeIds) {
      const node = held.fold.node(nodeId);
      const known = node && !node.unread ? node : held.requests.get(nodeId);
      if (known) requests.set(nodeId, known);
    }
    const missing = nodeIds.filter((nodeId) => !requests.has(nodeId));
    if (missing.length === 0) return;
    const own: NodeEvents[] = [];
    const elsewhere: string[] = [];
    for (const nodeId of missing) {
      const revision = requestedAt(nodeId);
      if (revision === undefined) elsewhere.push(nodeId);
      else own.push({ conversation_id: held.conversationId, revisions: [BigInt(revision)] });
    }
    const places = elsewhere.length > 0 ? [...(await this.tree.requests(elsewhere)).values()] : [];
    const rows = places.map(({ conversationId: id, revision }) => ({ conversation_id: id, revisions: [revision] }));
    for (const { event, stream } of await this.eventsAt(held.conversationId, [...own, ...rows]))
      if (event.type === 'CallRequested') requests.set(event.data.nodeId, requestIn(event, stream));
    const unknown = missing.find((nodeId) => !requests.has(nodeId));
    if (unknown !== undefined)
      throw new Error(`The request of ${unknown} is copied from, and neither the stream's end nor the tree has it.`);
  }

  /** The events of these nodes, with the stream of each that is another conversation's. */
  private async eventsAt(
    conversationId: string,
    rows: readonly NodeEvents[],
  ): Promise<readonly { readonly event: ConversationRecord; readonly stream?: string }[]> {
    const found = await Promise.all(
      eventsOfNodes(rows).map(async ({ conversationId: id, revisions }) => {
        const of = id === conversationId ? {} : { stream: conversationStream(id) };
        return (await this.log.at(id, revisions)).map((event) => ({ event, ...of }));
      }),
    );
    return found.flat();
  }

  private async begin({ conversationId, nodeId, revision, turnStartedAt }: PathWanted): Promise<HeldPaths> {
    const fold = new PathFold(this.readItems);
    const held: HeldPaths = {
      ...{ conversationId, fold, through: -1n },
      ...{ placed: new LRUCache({ max: REQUESTS_HELD }), requests: new Map() },
    };
    const known = await this.read(held, nodeId);
    const through = known < turnStartedAt ? known : turnStartedAt - 1n;
    held.through = through;
    if (through === known && known < revision) {
      const events = await this.log.after(conversationId, through);
      for (const event of await this.withBeginning(conversationId, events)) fold.put(event);
      held.through = events.at(-1)?.revision ?? through;
    }
    this.held.set(conversationId, held);
    return held;
  }

  /** Events beyond those that the tree knows, and those that it knows of the append with which they begin. */
  private async withBeginning(conversationId: string, events: readonly ConversationRecord[]) {
    const [first] = events;
    return first ? [...(await beginningOf(this.log, conversationId, first)), ...events] : events;
  }

  /** A path that grows from a node which nobody asked for since this process holds the conversation, or from another one's. */
  private async load(held: HeldPaths, nodeId: string): Promise<void> {
    await this.read(held, nodeId);
    if (!held.fold.node(nodeId))
      throw new Error(`Node ${nodeId} is on the path, and neither the streams' ends nor the tree has it.`);
  }

  /**
   * What the tree knows of the path to a node, and the revision of the conversation's own stream up to which it knows. Of nodes that a summary
   * stands for nothing but their places is read, and the requests from which the next one copies the summaries and the parts around all messages.
   */
  private async read({ fold, conversationId, requests }: HeldPaths, nodeId: string | null): Promise<bigint> {
    // Judged before the tree is read: what arrives between the two is put in twice, and never missed.
    const behind = await this.behind(conversationId);
    const { path, revision } = await this.tree.path(conversationId, nodeId);
    const fresh = path.filter(({ node_id }) => !fold.node(node_id));
    for (const { node_id, segments } of fresh) for (const segment of segments) fold.putSegment(node_id, segment);
    const nodes = path.map(({ node_id }) => ({ nodeId: node_id }));
    const covered = coveredOn(nodes, fold.segmentsOn(nodes));
    const wanted = fresh.filter(({ node_id }) => !covered.has(node_id));
    const summaries = fresh.flatMap((row) =>
      row.summaries.filter((_, at) => !fold.node(row.segments[at]?.summary ?? '')),
    );
    const root = path[0]?.node_id;
    const copied = new Map(
      fresh
        .filter(({ node_id, segments }) => covered.has(node_id) && (segments.length > 0 || node_id === root))
        .map((row) => [row.node_id, { ...row, revisions: [row.requested_revision] }]),
    );
    for (const { event, stream } of await this.eventsAt(conversationId, [
      ...wanted,
      ...summaries,
      ...copied.values(),
    ])) {
      if (event.type === 'CallRequested' && copied.has(event.data.nodeId))
        requests.set(event.data.nodeId, requestIn(event, stream));
      else fold.put(event, stream);
    }
    for (const row of fresh) if (covered.has(row.node_id)) fold.outline(placeOf(row));
    for (const { stream, events } of behind) for (const event of events) fold.put(event, stream);
    return revision;
  }

  private async readEvents(fold: PathFold, conversationId: string, rows: readonly NodeEvents[]): Promise<void> {
    for (const { event, stream } of await this.eventsAt(conversationId, rows)) fold.put(event, stream);
  }

  /** Of the conversations from which this one grows, the farthest first: what their streams hold up to there and the tree does not. */
  private async behind(conversationId: string) {
    const sources = [...(await this.sourcesOf(conversationId))].reverse();
    return Promise.all(
      sources.map(async ({ conversationId: id, revision: end }) => {
        const known = (await this.tree.conversation(id))?.revision ?? -1n;
        const revisions = Array.from({ length: Math.max(0, end - Number(known)) }, (_, n) => known + BigInt(n + 1));
        const events = revisions.length ? await this.log.at(id, revisions) : [];
        return { stream: conversationStream(id), events: await this.withBeginning(id, events) };
      }),
    );
  }

  private catchUp(held: HeldPaths, events: readonly OpenedEvent[]): void {
    for (const event of events) {
      if (event.revision <= held.through) continue;
      held.fold.put(event);
      held.through = event.revision;
    }
  }
}

const requestIn = ({ content }: EventOf<'CallRequested'>, stream: string | undefined): RequestAt => ({
  request: content as StoredRequest,
  ...(stream !== undefined && { stream }),
});

/** The requests of a path, as far as they were read. */
const requestsOf = (path: readonly NodeRecord[]): Map<string, RequestAt> =>
  new Map(path.filter((node) => !node.unread).map((node): [string, RequestAt] => [node.nodeId, node]));

const placeOf = ({ node_id: nodeId, parent, kind, status, provider, model, turn_id: turnId }: PathRow): NodePlace => ({
  ...{ nodeId, parent, kind: kind as NodePlace['kind'], status, provider, model, turnId },
});

/** A path of which every node is known. */
export function pathTo(fold: PathFold, nodeId: string | null): readonly NodeRecord[] {
  const found = fold.pathTo(nodeId);
  if ('missing' in found) throw new Error(`Node ${found.missing} is on the path and was not read.`);
  return found.path;
}
