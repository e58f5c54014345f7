import { createHash } from 'node:crypto';
import {
  type OpenedEvent,
  type Piece,
  ownSources,
  resolveManifest,
  restoreSegment,
  type Segment,
  type SegmentPlace,
  type Source,
  type StoredRequest,
  valueAt,
  wireText,
} from '@palimpsest/context';
import { byConversation } from './by-conversation';
import { conversationStream } from '@palimpsest/read-models';

/** Reads a conversation's events with their content opened, by revision. */
export interface EventReader {
  at(conversationId: string, revisions: readonly bigint[]): Promise<readonly (OpenedEvent & { readonly id: string })[]>;
}

/** Where a node's `CallRequested` stands. */
export interface RequestPlace {
  readonly conversationId: string;
  readonly revision: bigint;
}

/** Where the requests of nodes stand: in the conversation of one that is replayed, or in one from which that grows. */
export interface RequestPlaces {
  requests(nodeIds: readonly string[], conversationId: string): Promise<ReadonlyMap<string, RequestPlace>>;
}

export interface ReplayPart {
  readonly from: number;
  readonly to: number;
  readonly what: 'frame' | 'system' | 'tools' | 'summary' | 'window' | 'state' | 'turn';
  readonly nodeId: string | null;
  readonly eventId: string | null;
}

export interface Replay {
  readonly nodeId: string;
  readonly provider: string;
  readonly model: string;
  readonly url: string;
  /** Of the URL, below the provider's base. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sha256: string;
  readonly length: number;
  /** The bytes have the digest and the length that were recorded. */
  readonly verified: boolean;
  readonly exact: boolean;
  readonly bytes: Uint8Array;
  readonly parts: readonly ReplayPart[];
}

/** A piece of a request, before it was written for the wire. */
export interface ShownPiece {
  readonly what: ReplayPart['what'];
  readonly text: string;
  readonly nodeId: string | null;
  /** Where in its event's content the text stands; left out for what stands in the request alone. */
  readonly pointer?: string;
  /** Of a conversation; left out for what stands in the request alone, or in another stream. */
  readonly event?: OpenedEvent & { readonly id: string };
}

/** A request can't be put together, since the log does not hold what its manifest names. */
export class ReplayBroken extends Error {
  override readonly name = 'ReplayBroken';
}

/** The node was imported: what was sent is not known. */
export class NoExactRequest extends Error {
  override readonly name = 'NoExactRequest';
}

type Requested = OpenedEvent & { readonly id: string; readonly type: 'CallRequested' };
/** A request and whose it is. */
type Found = Requested & { readonly conversationId: string };

/**
 * The exact request of a node: a concatenation of stored segments. It runs no assembler, no renderer and no model, so it stays exact when
 * that code changes. Reads grow with the request, not with the conversation's other branches.
 */
export class Replayer {
  constructor(
    private readonly log: EventReader,
    private readonly places: RequestPlaces,
  ) {}

  /** `requestedRevision`: where the node's `CallRequested` stands. */
  async replay(conversationId: string, nodeId: string, requestedRevision: bigint): Promise<Replay> {
    const { event, segments, requests } = await this.request(conversationId, nodeId, requestedRevision);
    return assemble(event, segments, requests);
  }

  /** The same, and what the request shows, piece by piece, with the events that its texts stand in. */
  async shown(
    conversationId: string,
    nodeId: string,
    requestedRevision: bigint,
  ): Promise<{ readonly replay: Replay; readonly pieces: readonly ShownPiece[] }> {
    const { event, segments, requests } = await this.request(conversationId, nodeId, requestedRevision);
    const elsewhere = await this.eventsElsewhere(segments);
    const here = spokenIn(nodeId, requests);
    const pieces = segments.flatMap(({ segment, events }) =>
      segment.map((piece) => {
        const { text, nodeId, source } = piece;
        const from = source && (source.stream === undefined ? events : elsewhere.get(source.stream))?.get(source.revision); // prettier-ignore
        const what = whatOf(piece, here, requests);
        return { what, text, nodeId, ...(source && { pointer: source.pointer }), ...(from && { event: from }) };
      }),
    );
    return { replay: assemble(event, segments, requests), pieces };
  }

  /** The same in its segments: each piece says where its text stands, in the node's own conversation or in which other. */
  async segments(conversationId: string, nodeId: string, requestedRevision: bigint): Promise<readonly Segment[]> {
    const { segments, requests } = await this.request(conversationId, nodeId, requestedRevision);
    return segments.map(({ owner, segment }) => {
      const { conversationId: of } = requests.get(owner) as Found;
      return of === conversationId ? segment : segment.map((piece) => standingIn(conversationStream(of), piece));
    });
  }

  private async request(conversationId: string, nodeId: string, requestedRevision: bigint) {
    const requests = new Map<string, Found>();
    await this.load(new Map([[nodeId, { conversationId, revision: requestedRevision }]]), requests);
    if (requests.get(nodeId)?.data.provenance)
      throw new NoExactRequest(`Node ${nodeId} was imported: its request is not known.`);
    const places = await this.resolve(conversationId, nodeId, requests);
    const segments = await this.restore(conversationId, places, requests);
    return { event: requests.get(nodeId) as Found, segments, requests };
  }

  /** Of texts that a segment names in another conversation's stream, by that stream and revision. */
  private async eventsElsewhere(segments: readonly OwnedSegment[]): Promise<ReadonlyMap<string, TextEvents>> {
    const wanted = segments.flatMap(({ segment }) =>
      segment.flatMap(({ source }) => {
        const conversationId = /^conversation-(.+)$/.exec(source?.stream ?? '')?.[1];
        return source && conversationId !== undefined ? [{ conversationId, revision: BigInt(source.revision) }] : [];
      }),
    );
    const found = new Map<string, TextEvents>();
    for (const [conversationId, revisions] of byConversation(wanted))
      found.set(`conversation-${conversationId}`, await this.eventsAt(conversationId, revisions));
    return found;
  }

  private async load(wanted: ReadonlyMap<string, RequestPlace>, into: Map<string, Found>): Promise<void> {
    for (const [conversationId, revisions] of byConversation(wanted.values()))
      for (const event of await this.log.at(conversationId, revisions))
        if (event.type === 'CallRequested') into.set(event.data.nodeId, { ...event, conversationId });
    for (const id of wanted.keys())
      if (!into.has(id)) throw new ReplayBroken(`The request of node ${id} is not where the tree says that it stands.`);
  }

  private async loadByNode(
    conversationId: string,
    nodeIds: readonly string[],
    into: Map<string, Found>,
  ): Promise<void> {
    const places = await this.places.requests(nodeIds, conversationId);
    const unknown = nodeIds.find((id) => !places.has(id));
    if (unknown !== undefined)
      throw new ReplayBroken(`Node ${unknown} is part of the request, and the tree does not know it.`);
    await this.load(places, into);
  }

  /** Follows the manifest through the nodes that it copies from. */
  private async resolve(
    conversationId: string,
    nodeId: string,
    requests: Map<string, Found>,
  ): Promise<readonly SegmentPlace[]> {
    for (;;) {
      const found = resolveManifest(nodeId, (id) => (requests.get(id)?.content as StoredRequest | undefined)?.manifest);
      if ('places' in found) return found.places;
      await this.loadByNode(conversationId, [found.missing], requests);
    }
  }

  private async restore(
    conversationId: string,
    places: readonly SegmentPlace[],
    requests: Map<string, Found>,
  ): Promise<readonly OwnedSegment[]> {
    const owners = [...new Set(places.map(({ owner }) => owner))];
    const absent = owners.filter((owner) => !requests.has(owner));
    if (absent.length) await this.loadByNode(conversationId, absent, requests);
    const texts = await this.texts(owners.map((owner) => requests.get(owner) as Found));
    return places.map(({ owner, index }) => {
      const request = requests.get(owner) as Found;
      const pieces = (request.content as StoredRequest).segments[index];
      if (!pieces) throw new ReplayBroken(`Node ${owner} has no segment ${index}.`);
      const events = texts.get(request.conversationId) ?? new Map<number, TextEvent>();
      return { owner, segment: restoreSegment(owner, pieces, (source) => textAt(events, source)), events };
    });
  }

  /** The events that the segments of these requests refer to, each in the stream of the node that refers to it; by conversation and revision. */
  private async texts(requests: readonly Found[]): Promise<ReadonlyMap<string, TextEvents>> {
    const wanted = requests.flatMap(({ conversationId, content }) =>
      ownSources(content as StoredRequest).map(({ revision }) => ({ conversationId, revision: BigInt(revision) })),
    );
    const texts = new Map<string, TextEvents>();
    for (const [conversationId, revisions] of byConversation(wanted))
      texts.set(conversationId, await this.eventsAt(conversationId, revisions));
    return texts;
  }

  private async eventsAt(conversationId: string, revisions: readonly bigint[]): Promise<TextEvents> {
    const events = await this.log.at(conversationId, [...new Set(revisions)]);
    return new Map(events.map((event) => [Number(event.revision), event]));
  }
}

/** A source that names no stream means that of the node which stored it. */
const standingIn = (stream: string, piece: Piece): Piece =>
  piece.source ? { ...piece, source: { stream, ...piece.source } } : piece;

type TextEvent = OpenedEvent & { readonly id: string };
type TextEvents = ReadonlyMap<number, TextEvent>;

function textAt(events: TextEvents, { revision, pointer }: Source): string {
  const text = valueAt(events.get(revision)?.content, pointer);
  if (typeof text !== 'string') throw new ReplayBroken(`There is no text at ${pointer} of revision ${revision}.`);
  return text;
}

interface OwnedSegment {
  readonly owner: string;
  readonly segment: Segment;
  /** Those that the texts come from, by revision, in the stream of the node that stored it. */
  readonly events: TextEvents;
}

function assemble(
  event: Requested,
  segments: readonly OwnedSegment[],
  requests: ReadonlyMap<string, Requested>,
): Replay {
  const { nodeId, provider, model, length, exact } = event.data;
  const { sha256, url, path, headers } = event.content as StoredRequest;
  const here = spokenIn(nodeId, requests);
  const chunks: Buffer[] = [];
  const parts: ReplayPart[] = [];
  let at = 0;
  for (const { owner, segment, events } of segments) {
    for (const piece of segment) {
      const chunk = Buffer.from(wireText(piece), 'utf8');
      chunks.push(chunk);
      const eventId = piece.source
        ? (piece.source.eventId ?? events.get(piece.source.revision)?.id)
        : requests.get(owner)?.id;
      const { nodeId } = piece;
      extend(parts, {
        from: at,
        to: at + chunk.length,
        what: whatOf(piece, here, requests),
        nodeId,
        eventId: eventId ?? null,
      });
      at += chunk.length;
    }
  }
  const bytes = Buffer.concat(chunks);
  const verified = bytes.length === length && createHash('sha256').update(bytes).digest('hex') === sha256;
  return { nodeId, provider, model, url, path, headers, sha256, length, verified, exact, bytes, parts };
}

/**
 * A node's turn; outside a turn the node itself. A node of a turn is named after it, so one whose request is not at hand tells its turn too;
 * one outside a turn is found in no request but its own.
 */
function spokenIn(nodeId: string, requests: ReadonlyMap<string, Requested>): string {
  const { data } = requests.get(nodeId) ?? {};
  if (data?.kind === 'reissue') return spokenIn(data.parent, requests);
  if (data) return data.kind === 'turn' ? data.turnId : nodeId;
  return nodeId.slice(0, nodeId.lastIndexOf('-'));
}

/** What was said in an earlier turn stands in the window of this one. */
function whatOf(
  { kind, nodeId }: Pick<Piece, 'kind' | 'nodeId'>,
  here: string,
  requests: ReadonlyMap<string, Requested>,
): ReplayPart['what'] {
  const ofThisTurn = nodeId !== null && spokenIn(nodeId, requests) === here;
  return kind === 'turn' && !ofThisTurn ? 'window' : kind;
}

function extend(parts: ReplayPart[], part: ReplayPart): void {
  if (part.from === part.to) return;
  const last = parts.at(-1);
  const same = last && last.what === part.what && last.nodeId === part.nodeId && last.eventId === part.eventId;
  if (same) parts[parts.length - 1] = { ...last, to: part.to };
  else parts.push(part);
}
