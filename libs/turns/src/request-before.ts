import type { ModelChoice } from '@palimpsest/assistant';
import { correctionOf, type NodeRecord, type PlacedSegment, type RequestTraits, type Since } from '@palimpsest/context';
import type { ActiveConversation, RequestedNode } from '@palimpsest/conversation';

/** The request of the node before on a path, as the next one is compared with it; null where it is the first, or that request is not known. */
export function requestBefore(
  node: NodeRecord | undefined,
  placed: readonly PlacedSegment[] | null,
): RequestTraits | null {
  if (!node || !placed?.length) return null;
  const { nodeId, kind, provider, model } = node;
  return { nodeId, kind, provider, model, segments: placed.map(({ segment }) => segment) };
}

/** What made a request the first of its path. */
export function beginning(place: RequestedNode, { turns, epoch }: ActiveConversation): Since {
  const kind = place.kind === 'turn' ? turns.get(place.turnId)?.start?.kind : undefined;
  if (kind === 'edit' || kind === 'regenerate') return { begins: 'edit' };
  return epoch > 0 ? { begins: 'clear' } : {};
}

/** By how much counts for this model are to be corrected, from what its calls on the path really took. */
export function correctionOn(path: readonly NodeRecord[], { provider, name }: ModelChoice): number {
  return correctionOf(
    path.flatMap(({ provider: asked, model, counted, reported }) =>
      asked === provider && model === name && counted !== null && reported !== null ? [{ counted, reported }] : [],
    ),
  );
}
