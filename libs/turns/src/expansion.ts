import type { ModelChoice } from '@palimpsest/assistant';
import { isProvidersOwn, type NodeRecord, type PathFold } from '@palimpsest/context';
import type { EventOf, NodeId } from '@palimpsest/conversation';
import { compactsItself } from '@palimpsest/providers';
import { type HeldPaths, type Paths, pathTo } from './paths';

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

/** The path to a node as a model can read it, of what is held and what `fold` has over it. */
export const readablePath = (
  paths: Pick<Paths, 'reach'>,
  held: HeldPaths,
  { fold, nodeId, model }: { readonly fold: PathFold; readonly nodeId: NodeId | null; readonly model: ModelChoice },
): Promise<ReadablePath> =>
  expand(pathTo(fold, nodeId), model, async (origin) => {
    await paths.reach(held, origin);
    return pathTo(fold, origin);
  });

/** One for each request: whoever reads the log from there on sees what it holds. */
export const expansionsFor = (nodeId: NodeId, compactions: readonly NodeId[]): readonly EventOf<'ContextExpanded'>[] =>
  compactions.map((compaction) => ({ type: 'ContextExpanded', data: { nodeId, compaction }, content: null }));

function canRead(model: ModelChoice, node: NodeRecord): boolean {
  return !isProvidersOwn(node) || (node.provider === model.provider && compactsItself(model));
}
