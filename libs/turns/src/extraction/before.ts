import { type ActiveConversation, lineage, type NodeId, type TurnId } from '@palimpsest/conversation';

/** How many turns before a question are looked at: what they say may not be settled yet. */
export const TURNS_LOOKED_AT = 4;

/** A turn before a question, the last one first. */
export interface TurnBefore {
  readonly turnId: TurnId;
  /** The nodes between it and the question. */
  readonly later: ReadonlySet<NodeId>;
  /**
   * `settled`: an extraction succeeded. `out`: one is out, or was cut off and may be asked for again. `failed`: none comes any more. `none`: none
   * was asked for.
   */
  readonly extraction: 'settled' | 'out' | 'failed' | 'none';
  /** The extraction that is out at a model. */
  readonly pending?: NodeId;
}

/** The completed turns on the way to a node, as far as they are looked at. */
export function turnsBefore(state: ActiveConversation, nodeId: NodeId | null): readonly TurnBefore[] {
  const found: TurnBefore[] = [];
  const passed = new Set<NodeId>();
  let turnId: TurnId | undefined;
  for (const id of lineage(state, nodeId)) {
    const node = state.nodes.get(id);
    if (node?.kind === 'turn' && node.turnId !== turnId) {
      if (found.length === TURNS_LOOKED_AT) break;
      turnId = node.turnId;
      if (state.turns.get(turnId)?.status === 'completed')
        found.push({ turnId, later: new Set(passed), ...extractionOf(state, turnId) });
    }
    passed.add(id);
  }
  return found;
}

function extractionOf(state: ActiveConversation, turnId: TurnId): Pick<TurnBefore, 'extraction' | 'pending'> {
  const extractions = state.turns.get(turnId)?.extractions ?? [];
  const [latest] = extractions.slice(-1);
  const node = latest === undefined ? undefined : state.nodes.get(latest);
  if (!node || latest === undefined) return { extraction: 'none' };
  if (node.status === 'pending') return { extraction: 'out', pending: latest };
  if (node.status === 'succeeded') return { extraction: 'settled' };
  return { extraction: node.reason === 'interrupted' && extractions.length === 1 ? 'out' : 'failed' };
}
