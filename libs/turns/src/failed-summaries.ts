import { coveredOn, type NodeRecord, type SummarySegment } from '@palimpsest/context';
import type { ActiveConversation } from '@palimpsest/conversation';
import type { FailedSummary } from './request-too-large';

/** Of runs that end in what a request holds word by word, in the order in which they were asked for. */
export function failedSummaries(
  { nodes }: Pick<ActiveConversation, 'nodes'>,
  path: readonly Pick<NodeRecord, 'nodeId'>[],
  segments: readonly SummarySegment[] = [],
): readonly FailedSummary[] {
  const covered = coveredOn(path, segments);
  const whole = new Set(path.map(({ nodeId }) => nodeId).filter((nodeId) => !covered.has(nodeId)));
  return [...nodes]
    .filter(([, node]) => node.kind === 'summary' && node.status === 'failed' && whole.has(node.parent))
    .sort(([, a], [, b]) => a.requestedAt - b.requestedAt)
    .map(([nodeId, { reason }]) => ({ nodeId, reason }));
}
