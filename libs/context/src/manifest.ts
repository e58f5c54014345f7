import type { Escape, Piece, PieceKind, RenderedRequest, Segment } from './segment';
import type { Source } from './items';

/**
 * What `CallRequested` seals. The request is the concatenation of the segments that `manifest` lists: ranges copied from earlier nodes and
 * segments that are new here. So what a conversation stores grows with its new text, and a replay runs no renderer.
 */
export interface StoredRequest {
  readonly manifest: readonly ManifestPart[];
  readonly segments: readonly (readonly StoredPiece[])[];
  /** Of the body, hex. Sealed, since a plain digest of a short text is no secret. */
  readonly sha256: string;
  readonly url: string;
  /** Of the URL, below the provider's base: whoever calls again may reach the provider at another base. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sdk: string;
}

/** Of a node whose request is not known, or not made yet: it has no segments, and no manifest copies anything of it. */
export const NO_REQUEST: StoredRequest = { manifest: [], segments: [], sha256: '', url: '', path: '', headers: {}, sdk: '' }; // prettier-ignore

/** Half-open ranges of segments: `copy` counts in the whole request of that node, `own` in the segments that it stored, `here` in ours. */
export type ManifestPart =
  | { readonly copy: string; readonly from: number; readonly to: number }
  | { readonly own: string; readonly from: number; readonly to: number }
  | { readonly here: number; readonly to: number };

/** A literal text of the frame is a bare string. */
export type StoredPiece = string | StoredText;

export interface StoredText {
  readonly kind: PieceKind;
  /** Left out where the text belongs to the node itself; null for what belongs to none. */
  readonly node?: string | null;
  readonly escape?: Escape;
  readonly source?: Source;
  /** Left out where it is read from `source`. */
  readonly text?: string;
}

/** A segment of a request, and which node stored it at which place. */
export interface PlacedSegment {
  readonly owner: string;
  readonly index: number;
  readonly segment: Segment;
}

/** Texts shorter than this are cheaper written again than referred to. Characters. */
export const SHORTEST_REFERENCE = 64;
/** Every so manyth node of a path is a milestone: see `planManifest`. */
export const MILESTONE_EVERY = 64;

/** What a piece is, without its text where an event holds that: equal identities are equal bytes. */
function identity(piece: Piece): string {
  const { kind, nodeId, escape = '', source } = piece;
  const place = source ? `${source.stream ?? ''}@${source.revision}${source.pointer}` : `"${piece.text}`;
  return `${kind}|${nodeId ?? ''}|${escape}|${place}`;
}

const identities = new WeakMap<Segment, string>();

export function segmentIdentity(segment: Segment): string {
  let known = identities.get(segment);
  if (known === undefined) identities.set(segment, (known = segment.map(identity).join('\u0001')));
  return known;
}

export interface PlannedManifest {
  readonly manifest: readonly ManifestPart[];
  /** The new segments. */
  readonly fresh: readonly Segment[];
  /** The whole request, in order. */
  readonly placed: readonly PlacedSegment[];
}

/** A milestone's request, as far as the next one refers to it. */
export interface Milestone {
  readonly nodeId: string;
  readonly places: readonly SegmentPlace[];
}

/** Before the first one. */
export const NO_MILESTONE: Milestone = { nodeId: '', places: [] };

/**
 * Says where each segment of a request comes from. `base` is the request of the node before; a node's manifest refers to it. A milestone's
 * refers to the `milestone` before it instead, and names the owners of what came since. So no replay follows a chain that is longer than the
 * nodes to the last milestone and the milestones together, and no manifest grows with its conversation.
 */
export function planManifest(
  nodeId: string,
  request: RenderedRequest,
  base: { readonly nodeId: string; readonly placed: readonly PlacedSegment[] } | null,
  milestone?: Milestone,
): PlannedManifest {
  const segments = [request.head, ...request.messages, request.tail];
  const before = base?.placed ?? [];
  // A longer conversation begins with the same segments, most often the very same objects: only what comes after is looked up by name.
  const start = commonStart(segments, before);
  const known = new Map<string, number>();
  for (let at = start; at < before.length; at++) known.set(segmentIdentity((before[at] as PlacedSegment).segment), at);
  const fresh: Segment[] = [];
  const placed = before.slice(0, start);
  const parts: ManifestPart[] = [];
  if (milestone) placed.forEach((old, at) => lengthen(parts, since(milestone, at, old)));
  else if (base && start > 0) parts.push({ copy: base.nodeId, from: 0, to: start });
  for (const segment of segments.slice(start)) {
    const at = known.get(segmentIdentity(segment));
    const old = at === undefined ? undefined : before[at];
    if (base === null || at === undefined || old === undefined) {
      lengthen(parts, { here: fresh.length, to: fresh.length + 1 });
      placed.push({ owner: nodeId, index: fresh.length, segment });
      fresh.push(segment);
    } else {
      lengthen(parts, milestone ? since(milestone, placed.length, old) : { copy: base.nodeId, from: at, to: at + 1 });
      placed.push(old);
    }
  }
  return { manifest: parts, fresh, placed };
}

/** A segment at this place of a request: copied where the milestone's request has it there too, else by its owner. */
function since({ nodeId, places }: Milestone, at: number, { owner, index }: SegmentPlace): ManifestPart {
  const same = places[at]?.owner === owner && places[at]?.index === index;
  return same ? { copy: nodeId, from: at, to: at + 1 } : { own: owner, from: index, to: index + 1 };
}

function commonStart(segments: readonly Segment[], before: readonly PlacedSegment[]): number {
  const most = Math.min(segments.length, before.length);
  for (let at = 0; at < most; at++) {
    const [segment, old] = [segments[at] as Segment, (before[at] as PlacedSegment).segment];
    if (segment !== old && segmentIdentity(segment) !== segmentIdentity(old)) return at;
  }
  return most;
}

/** Adds a range of one segment, to the last part where it goes on there. */
function lengthen(parts: ManifestPart[], next: ManifestPart): void {
  const last = parts.at(-1);
  const goesOn =
    last !== undefined &&
    (('here' in last && 'here' in next && last.to === next.here) ||
      ('copy' in last && 'copy' in next && last.copy === next.copy && last.to === next.from) ||
      ('own' in last && 'own' in next && last.own === next.own && last.to === next.from));
  if (goesOn) parts[parts.length - 1] = { ...last, to: next.to };
  else parts.push(next);
}

/** A segment as it is stored: long texts that stand in the conversation's own stream are referred to. */
export function storeSegment(nodeId: string, segment: Segment): readonly StoredPiece[] {
  return segment.map((piece) => {
    const { kind, text, escape, source } = piece;
    if (kind === 'frame' && source === undefined && escape === undefined && piece.nodeId === nodeId) return text;
    const referred = source !== undefined && source.stream === undefined && text.length >= SHORTEST_REFERENCE;
    return {
      kind,
      ...(piece.nodeId === nodeId ? {} : { node: piece.nodeId }),
      ...(escape === undefined ? {} : { escape }),
      ...(source === undefined ? {} : { source }),
      ...(referred ? {} : { text }),
    };
  });
}

/** The inverse of `storeSegment`; `lookUp` gives the text at a source. `stream`: the owner's, where that is another conversation's. */
export function restoreSegment(
  owner: string,
  pieces: readonly StoredPiece[],
  lookUp: (source: Source) => string,
  stream?: string,
): Segment {
  return pieces.map((piece): Piece => {
    if (typeof piece === 'string') return { kind: 'frame', text: piece, nodeId: owner };
    const { kind, node, escape, source } = piece;
    const text = piece.text ?? lookUp(source as Source);
    return {
      kind,
      text,
      nodeId: node === undefined ? owner : node,
      ...(escape === undefined ? {} : { escape }),
      ...(source === undefined ? {} : { source: stream === undefined ? source : { stream, ...source } }),
    };
  });
}

/** The places in the conversation's own stream that a stored request's own segments name: texts referred to, and texts written again. */
export function ownSources(request: StoredRequest): readonly Source[] {
  return request.segments
    .flat()
    .flatMap((piece) =>
      typeof piece === 'object' && piece.source && piece.source.stream === undefined ? [piece.source] : [],
    );
}

/** Where a segment of a request stands: the node that stored it, and its place there. */
export interface SegmentPlace {
  readonly owner: string;
  readonly index: number;
}

/**
 * The places of a request's segments, in order. `manifestOf` must know the node and all that its manifest copies from; the node that is missing
 * is named in the answer, so that a caller can fetch it and ask again.
 */
export function resolveManifest(
  nodeId: string,
  manifestOf: (nodeId: string) => readonly ManifestPart[] | undefined,
): { readonly places: readonly SegmentPlace[] } | { readonly missing: string } {
  const places: SegmentPlace[] = [];
  const missing = collect({ nodeId, from: 0, to: Infinity }, manifestOf, places);
  return missing === undefined ? { places } : { missing };
}

/** Of a node's whole request a range of segments. Of what the node copies nothing else is looked at: so a chain of copies costs its length, and the range. */
function collect(
  { nodeId, from, to }: { readonly nodeId: string; readonly from: number; readonly to: number },
  manifestOf: (nodeId: string) => readonly ManifestPart[] | undefined,
  into: SegmentPlace[],
): string | undefined {
  const manifest = manifestOf(nodeId);
  if (!manifest) return nodeId;
  let before = 0;
  for (const part of manifest) {
    const start = 'here' in part ? part.here : part.from;
    const first = Math.max(start, start + from - before);
    const end = Math.min(part.to, start + to - before);
    before += part.to - start;
    if (first >= end) continue;
    if ('copy' in part) {
      const missing = collect({ nodeId: part.copy, from: first, to: end }, manifestOf, into);
      if (missing !== undefined) return missing;
    } else {
      const owner = 'own' in part ? part.own : nodeId;
      for (let index = first; index < end; index++) into.push({ owner, index });
    }
  }
  return undefined;
}
