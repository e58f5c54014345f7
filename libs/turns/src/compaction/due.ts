import type { ActiveConversation, NodeId } from '@palimpsest/conversation';
import type { MeasuredTurn } from './runs';

export interface Threshold {
  /** Share of the model's input cap. */
  readonly at: number;
  /** Tokens: the model's input cap. */
  readonly cap: number;
  /** Tokens that are to come: the next question. */
  readonly more: number;
}

/** Whether a path's request passes the threshold, and a summary could help: prompt and tools stay, whatever is summarised. */
export function isDue(path: Tokens, { at, cap, more }: Threshold): boolean {
  const limit = at * cap;
  return tokensOf(path.turns) > 0 && path.fixed + more < limit && more >= roomOn(path, { at, cap });
}

interface Tokens {
  readonly fixed: number;
  readonly turns: readonly Pick<MeasuredTurn, 'tokens'>[];
}

/** Tokens that may come before the threshold is passed. */
export const roomOn = ({ fixed, turns }: Tokens, { at, cap }: Omit<Threshold, 'more'>): number =>
  at * cap - fixed - tokensOf(turns);

export const tokensOf = (turns: readonly Pick<MeasuredTurn, 'tokens'>[]): number =>
  turns.reduce((sum, { tokens }) => sum + tokens, 0);

/** The compaction of the path to this node that is being made, by whichever process. */
export function pendingAt({ nodes }: ActiveConversation, head: NodeId): NodeId | undefined {
  for (const [nodeId, node] of nodes)
    if (node.kind === 'compaction' && node.origin === head && node.status === 'pending') return nodeId;
  return undefined;
}

/** Whether the path to this node is being summarised, or could not be: once is enough, or a broken summariser is asked for ever. */
export function wasTried({ nodes }: ActiveConversation, head: NodeId): boolean {
  for (const [, node] of nodes) {
    if (node.kind !== 'compaction' || node.origin !== head || node.status === 'succeeded') continue;
    if (node.reason !== 'superseded' && node.reason !== 'interrupted') return true;
  }
  return false;
}
