import type { ManifestPart, PieceKind, StoredPiece, StoredRequest } from '@palimpsest/context';
import { conversationStream } from '@palimpsest/read-models';

/** What a piece of a request says of where it came from, without its text. */
export interface Origin {
  readonly kind: PieceKind;
  /** Whose text it is; null for system prompt, tools and the frame around all messages. */
  readonly nodeId: string | null;
  /** Where its text stands, `<stream>@<revision>`; left out of what stands in the request alone. */
  readonly place?: string;
}

/** A request as far as it says what it holds: its manifest, and the origins of its own segments. It holds no content. */
export interface RequestRouting {
  readonly nodeId: string;
  readonly conversationId: string;
  readonly revision: bigint;
  readonly manifest: readonly ManifestPart[];
  readonly segments: readonly (readonly Origin[])[];
}

/** Where a request stands. */
export interface RoutingPlace {
  readonly nodeId: string;
  readonly conversationId: string;
  readonly revision: bigint;
}

export const placeOf = (conversationId: string, revision: bigint | number): string =>
  `${conversationStream(conversationId)}@${revision}`;

/** The stream and the revision of a place. */
export function atPlace(place: string): { readonly stream: string; readonly revision: bigint } {
  const at = place.lastIndexOf('@');
  return { stream: place.slice(0, at), revision: BigInt(place.slice(at + 1)) };
}

export function routingOf({ manifest, segments }: StoredRequest, at: RoutingPlace): RequestRouting {
  return { ...at, manifest, segments: segments.map((pieces) => originsOf(pieces, at)) };
}

/** Each origin once. */
function originsOf(pieces: readonly StoredPiece[], { nodeId: owner, conversationId }: RoutingPlace): readonly Origin[] {
  const found = new Map<string, Origin>();
  for (const piece of pieces) {
    const origin = typeof piece === 'string' ? frameOf(owner) : originOf(piece, owner, conversationId);
    if (origin) found.set(`${origin.kind} ${origin.nodeId} ${origin.place}`, origin);
  }
  return [...found.values()];
}

const frameOf = (nodeId: string): Origin => ({ kind: 'frame', nodeId });

function originOf(
  { kind, node, source }: Exclude<StoredPiece, string>,
  owner: string,
  conversationId: string,
): Origin | undefined {
  const nodeId = node === undefined ? owner : node;
  if (source) {
    const { stream = conversationStream(conversationId), revision } = source;
    return { kind, nodeId, place: `${stream}@${revision}` };
  }
  return nodeId === null ? undefined : { kind, nodeId };
}
