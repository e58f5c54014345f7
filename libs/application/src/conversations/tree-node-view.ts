import type { NodeRow } from '@palimpsest/read-models';
import type { TreeNodeView } from '../views';

export function treeNodeView(row: NodeRow): TreeNodeView {
  const { node_id: id, parent, kind, status, turn_id: turnId, provider, model, origin, reason, epoch } = row;
  const usage =
    row.input_tokens === null
      ? null
      : {
          inputTokens: Number(row.input_tokens),
          cachedInputTokens: Number(row.cached_input_tokens),
          outputTokens: Number(row.output_tokens),
        };
  return {
    id,
    parent,
    kind,
    status,
    turnId,
    provider,
    model,
    usage,
    ...(origin === null ? {} : { origin }),
    ...(reason === null ? {} : { reason }),
    epoch,
  };
}
