import { ReplayBroken } from '@palimpsest/audit';
import { type CoverageInput, HeldTexts, type NodeRecord, PathFold, summariesBehind } from '@palimpsest/context';
import { itemsOfResponse } from '@palimpsest/providers';
import { conversationStream, eventsOfNodes, type NodeEvents, type NodeRow } from '@palimpsest/read-models';
import type { System } from '../system/system';

/**
 * A node's request as it is stored, and all that its lineage says, through compactions and the conversations from which its own grows. Rejects
 * with `NoExactRequest` where the node was imported. Reads grow with the lineage.
 */
export async function readLineage(system: System, row: NodeRow): Promise<CoverageInput> {
  const { conversation_id: own, node_id, requested_revision } = row;
  const segments = await system.replayer.segments(own, node_id, requested_revision);
  const fold = new PathFold(itemsOfResponse);
  const { path } = await system.tree.path(own, node_id, { lineage: true });
  await put(system, fold, own, path);
  for (const { node_id, segments: runs } of path) for (const run of runs) fold.putSegment(node_id, run);
  const lineage = path.map((node) => found(fold.node(node.node_id), node.node_id));
  await readSummaries(system, fold, own, () => summariesBehind(lineage, fold, new HeldTexts(segments)));
  const sources = await system.identities.sourcesOf(own);
  const sourceEnds = new Map(
    sources.map(({ conversationId, revision }) => [conversationStream(conversationId), revision]),
  );
  return { lineage, fold, segments, sourceEnds };
}

/** Until none is named that was not read: each may go on from another. */
async function readSummaries(
  system: System,
  fold: PathFold,
  own: string,
  named: () => readonly string[],
): Promise<void> {
  for (;;) {
    const missing = named().filter((id) => !fold.node(id));
    if (missing.length === 0) return;
    await put(system, fold, own, await system.tree.eventsOf(missing));
    for (const id of missing) found(fold.node(id), id);
  }
}

async function put({ log }: System, fold: PathFold, own: string, rows: readonly NodeEvents[]): Promise<void> {
  for (const { conversationId, revisions } of eventsOfNodes(rows)) {
    const stream = conversationId === own ? undefined : conversationStream(conversationId);
    for (const event of await log.at(conversationId, revisions)) fold.put(event, stream);
  }
}

function found(node: NodeRecord | undefined, nodeId: string): NodeRecord {
  if (!node) throw new ReplayBroken(`Node ${nodeId} is not where the tree says that it stands.`);
  return node;
}
