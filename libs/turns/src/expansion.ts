import type { ModelChoice } from '@palimpsest/assistant';
import { isProvidersOwn, type NodeRecord } from '@palimpsest/context';
import type { EventOf, NodeId } from '@palimpsest/conversation';
import { compactsItself } from '@palimpsest/providers';

/** A path as a model can read it. */
export interface ReadablePath {
  readonly path: readonly NodeRecord[];
  /** Compactions that were expanded for that, the latest first. */
  readonly expanded: readonly NodeId[];
}

/**
 * Where a path begins with a compaction in the form of a provider that is not the model's, what that stands for comes instead of it, until the
 * model can read all. It follows from the nodes and the model alone: so each request of such a path says it again, and none depends on another.
 * `before`: the path to the node that a compaction stands for.
 */
export async function expand(
  path: readonly NodeRecord[],
  model: ModelChoice,
  before: (origin: NodeId) => Promise<readonly NodeRecord[]>,
): Promise<ReadablePath> {
  const expanded: NodeId[] = [];
  let readable = path;
  for (;;) {
    const [root, ...others] = readable;
    if (!root || root.origin === null || canRead(model, root)) return { path: readable, expanded };
    expanded.push(root.nodeId);
    readable = [...(await before(root.origin)), ...others];
  }
}

/** One for each request: whoever reads the log from there on sees what it holds. */
export const expansionsFor = (nodeId: NodeId, compactions: readonly NodeId[]): readonly EventOf<'ContextExpanded'>[] =>
  compactions.map((compaction) => ({ type: 'ContextExpanded', data: { nodeId, compaction }, content: null }));

function canRead(model: ModelChoice, node: NodeRecord): boolean {
  return !isProvidersOwn(node) || (node.provider === model.provider && compactsItself(model));
}
