import type { ContextChoice } from '@palimpsest/assistant';
import type { NodeId, SegmentReason } from '@palimpsest/conversation';
import { roomOn, tokensOf } from '../compaction/due';
import type { MeasuredPath, PathTurn } from '../compaction/runs';

/** A run of whole turns that is to leave: from behind the last summary up to a node. */
export interface SegmentPlan {
  readonly upTo: NodeId;
  readonly reason: SegmentReason;
}

export interface PlanLimits {
  /** Tokens: the model's input cap. */
  readonly cap: number;
  /** Tokens that are to come: the next question. */
  readonly more: number;
  /** Whether a summary may end with this turn. */
  readonly mayEnd: (turn: PathTurn) => boolean;
}

/** Summaries of one path in a row, where one has to be shorter than was planned since its model takes less. */
export const MOST_AT_ONCE = 4;

/** What is to leave at a path's end, where anything is: of what window, turns and pressure say, whatever goes farthest. */
export function planSegment(path: MeasuredPath, choice: ContextChoice, limits: PlanLimits): SegmentPlan | undefined {
  const turns = verbatimOf(path);
  const cuts = [
    { reason: 'window', at: byWindow(turns, choice, limits) },
    { reason: 'turns', at: byTurns(turns, choice, limits) },
    { reason: 'pressure', at: byPressure(path, choice, limits) },
  ] as const;
  return planAt(
    turns,
    cuts.reduce((far, cut) => (cut.at > far.at ? cut : far)),
  );
}

/**
 * What is to leave so that a turn's request fits that is too large by `excess` tokens: so much that `wanted` tokens go, where that can be; else just
 * enough, else all that was said before the turn. Nothing where even that is too little.
 */
export function planRoom(
  path: MeasuredPath,
  { summaries: { maxTokens } }: ContextChoice,
  { excess, wanted, mayEnd }: Pick<PlanLimits, 'mayEnd'> & { readonly excess: number; readonly wanted: number },
): SegmentPlan | undefined {
  const turns = verbatimOf(path);
  const saving = (goal: number) => firstCut(turns, mayEnd, (left) => tokensOf(left) - maxTokens >= goal);
  const all = lastCut(turns, mayEnd, (left) => tokensOf(left) >= excess);
  const at = [saving(Math.max(wanted, excess)), saving(excess), all].find((cut) => cut !== NOWHERE);
  return planAt(turns, { reason: 'budget', at: at ?? NOWHERE });
}

/** The turns that a request holds word by word: behind all that stands for earlier ones. */
export function verbatimOf({ turns }: MeasuredPath): readonly PathTurn[] {
  return turns.slice(turns.findLastIndex(({ standsFor }) => standsFor) + 1);
}

const NOWHERE = -1;

function byWindow(turns: readonly PathTurn[], { window }: ContextChoice, { mayEnd }: PlanLimits): number {
  if (!window || messagesOf(turns) < window.messages) return NOWHERE;
  return lastCut(turns, mayEnd, (_left, kept) => messagesOf(kept) >= window.keep);
}

/** The last turn stays: what is asked next is about its answer. */
function byTurns(turns: readonly PathTurn[], { everyTurns }: ContextChoice, { mayEnd }: PlanLimits): number {
  if (everyTurns === undefined || turns.length <= everyTurns) return NOWHERE;
  return lastCut(turns, mayEnd, (_left, kept) => kept.length > 0);
}

/** The last turn stays here too; and where prompt, tools and question alone are too much, no summary helps. */
function byPressure(path: MeasuredPath, { pressure, summaries }: ContextChoice, limits: PlanLimits): number {
  const { cap, more, mayEnd } = limits;
  const turns = verbatimOf(path);
  const fixed = path.fixed + more;
  const all = fixed + tokensOf(path.turns);
  if (!pressure || fixed >= pressure.above * cap || all < pressure.above * cap) return NOWHERE;
  const saved = (left: readonly PathTurn[]) => tokensOf(left) - summaries.maxTokens;
  const enough = firstCut(turns, mayEnd, (left, kept) => kept.length > 0 && all - saved(left) <= pressure.below * cap);
  return enough >= 0 ? enough : lastCut(turns, mayEnd, (left, kept) => kept.length > 0 && saved(left) > 0);
}

/** Tokens that a question may have before pressure begins; there is no such number where nothing depends on it. */
export function roomBefore(path: MeasuredPath, { pressure }: ContextChoice, cap: number): number {
  return pressure ? Math.max(0, roomOn(path, { at: pressure.above, cap })) : Infinity;
}

type Allows = (left: readonly PathTurn[], kept: readonly PathTurn[]) => boolean;

/** The places of turns that may be the last that leaves: all behind the first one without a break. */
function cutsOf(turns: readonly PathTurn[], mayEnd: PlanLimits['mayEnd'], allows: Allows): readonly number[] {
  const broken = turns.findIndex(({ apart }, at) => apart && at > 0);
  return turns.flatMap((turn, at) => {
    const isBehind = broken >= 0 && at >= broken;
    return !isBehind && mayEnd(turn) && allows(turns.slice(0, at + 1), turns.slice(at + 1)) ? [at] : [];
  });
}

const firstCut = (...args: Parameters<typeof cutsOf>): number => cutsOf(...args).at(0) ?? NOWHERE;
const lastCut = (...args: Parameters<typeof cutsOf>): number => cutsOf(...args).at(-1) ?? NOWHERE;

function planAt(turns: readonly PathTurn[], { at, reason }: { at: number; reason: SegmentReason }) {
  const last = turns[at];
  return last && { upTo: last.lastNode, reason };
}

const messagesOf = (turns: readonly PathTurn[]): number => turns.reduce((sum, { messages }) => sum + messages, 0);
