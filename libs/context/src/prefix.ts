import type { NodeId, NodeKind, PrefixBreak, RequestPrefix } from '@palimpsest/conversation';
import { segmentIdentity } from './manifest';
import { type Segment, wireBytes } from './segment';

/** A request, as far as it says why the next one differs. */
export interface RequestTraits {
  readonly nodeId: NodeId;
  readonly kind: NodeKind;
  readonly provider: string;
  readonly model: string;
  /** Head, messages and tail, in order. */
  readonly segments: readonly Segment[];
}

/** What happened between the request before and this one, and is not seen in their bytes. */
export interface Since {
  /** Results that are folded from this request on. */
  readonly folds?: boolean;
  /** Of the first request of its path: what made it begin anew. */
  readonly begins?: 'edit' | 'clear';
}

/**
 * What a request has in common with the one `before` it on its path, in whole segments, and why it has not all of that. The tail, which closes
 * the list of messages, does not count: it always moves on. `before` may come without the texts that stand in events.
 */
export function prefixOf(now: RequestTraits, before: RequestTraits | null, since: Since = {}): RequestPrefix {
  if (before === null) {
    const nothing = { segments: 0, bytes: 0 };
    return since.begins ? { ...nothing, brokenBy: { event: since.begins, nodeId: now.nodeId } } : nothing;
  }
  const shared = commonSegments(before.segments, now.segments);
  const bytes = now.segments.slice(0, shared).reduce((sum, segment) => sum + wireBytes(segment).length, 0);
  if (shared >= before.segments.length - 1) return { segments: shared, bytes };
  return { segments: shared, bytes, brokenBy: breakAt(shared, now, before, since) };
}

/** How many segments two requests have in common from the start. The last one of the shorter is its tail. */
function commonSegments(before: readonly Segment[], now: readonly Segment[]): number {
  const most = Math.min(before.length, now.length) - 1;
  for (let at = 0; at < most; at += 1) {
    const [old, fresh] = [before[at] as Segment, now[at] as Segment];
    if (old !== fresh && segmentIdentity(old) !== segmentIdentity(fresh)) return at;
  }
  return Math.max(0, most);
}

function breakAt(
  at: number,
  now: RequestTraits,
  before: RequestTraits,
  { folds }: Since,
): NonNullable<RequestPrefix['brokenBy']> {
  const whole = ofWholeRequest(now, before);
  if (whole) return { event: whole, nodeId: now.nodeId };
  const [old, fresh] = [before.segments[at] as Segment, now.segments[at] as Segment];
  const nodeId = nodeOf(old);
  // Prompt, tools and settings are no node's, and nothing but another version of the assistant changes them.
  if (nodeId === undefined) return { event: 'assistant', nodeId: now.nodeId };
  if (has(old, 'summary') || has(fresh, 'summary')) return { event: 'summary', nodeId };
  if (has(old, 'state') && !has(fresh, 'state')) return { event: 'state', nodeId };
  return { event: folds ? 'fold' : 'unexplained', nodeId };
}

function ofWholeRequest(now: RequestTraits, before: RequestTraits): PrefixBreak | undefined {
  if (now.kind !== before.kind) return [now.kind, before.kind].includes('compaction') ? 'compaction' : 'other_call';
  if (now.provider !== before.provider) return 'provider';
  return now.model === before.model ? undefined : 'model';
}

const has = (segment: Segment, kind: string): boolean => segment.some((piece) => piece.kind === kind);
const nodeOf = (segment: Segment): NodeId | undefined =>
  segment.find(({ nodeId }) => nodeId !== null)?.nodeId ?? undefined;
