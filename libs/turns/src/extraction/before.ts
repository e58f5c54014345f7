import { type ActiveConversation, lineage, type NodeId, type TurnId } from '@palimpsest/conversation';

/** How many turns before a question are looked at: what they say may not be settled yet. */
export const TURNS_LOOKED_AT = 4;

/** A turn before a question, the last one first. */
export interface TurnBefore {
  readonly turnId: TurnId;
  /** Of its beginning in the conversation's own stream. */
  readonly startedAt: number;
  /** The node that sent its question. */
  readonly first: NodeId;
  /** Its own nodes, and those between it and the question. */
  readonly since: ReadonlySet<NodeId>;
  /**
   * `settled`: an extraction succeeded. `out`: one is out, or was cut off and may be asked for again. `failed`: none comes any more, or none at all
   * because the turn did not complete. `none`: none was asked for.
   */
  readonly extraction: 'settled' | 'out' | 'failed' | 'none';
  /** The extraction that is out at a model. */
  readonly pending?: NodeId;
}

/** The turns on the way to a node, as far as they are looked at. */
export function turnsBefore(state: ActiveConversation, nodeId: NodeId | null): readonly TurnBefore[] {
  const found: TurnBefore[] = [];
  const passed: NodeId[] = [];
  let turnId: TurnId | undefined;
  let since = new Set<NodeId>();
  for (const id of lineage(state, nodeId)) {
    const node = state.nodes.get(id);
    passed.push(id);
    if (node?.kind !== 'turn') continue;
    if (node.turnId === turnId) {
      since.add(id);
      continue;
    }
    if (found.length === TURNS_LOOKED_AT) break;
    turnId = node.turnId;
    since = new Set(passed);
    const { start, firstNode: first } = state.turns.get(turnId) ?? {};
    if (start && first) found.push({ turnId, startedAt: start.revision, first, since, ...extractionOf(state, turnId) });
  }
  return found;
}

function extractionOf(state: ActiveConversation, turnId: TurnId): Pick<TurnBefore, 'extraction' | 'pending'> {
  const { status, extractions = [] } = state.turns.get(turnId) ?? {};
  if (status !== 'completed') return { extraction: 'failed' };
  const [latest] = extractions.slice(-1);
  const node = latest === undefined ? undefined : state.nodes.get(latest);
  if (!node || latest === undefined) return { extraction: 'none' };
  if (node.status === 'pending') return { extraction: 'out', pending: latest };
  if (node.status === 'succeeded') return { extraction: 'settled' };
  return { extraction: node.reason === 'interrupted' && extractions.length === 1 ? 'out' : 'failed' };
}
