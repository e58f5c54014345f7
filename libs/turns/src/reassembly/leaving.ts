import type { ContextChoice } from '@palimpsest/assistant';
import { type MadeSummary, nextSegment, type PathStep, type SummarySegment } from '@palimpsest/context';
import type { NodeId } from '@palimpsest/conversation';
import type { MeasuredPath, PathTurn } from '../compaction/runs';
import { tokensOf } from '../compaction/due';
import { type SegmentPlan, verbatimOf } from '../segments/plan';
import type { LeavingRun } from './reassembled';

/** What stands for the beginning of a path: summaries that there are, and behind them runs for which there is none. */
export interface Leaving {
  readonly segments: readonly SummarySegment[];
  readonly runs: readonly LeavingRun[];
}

/** A path as it would be measured with a summary of full length in place of each run. */
export function withRuns(
  path: MeasuredPath,
  runs: readonly LeavingRun[],
  { summaries: { maxTokens } }: Pick<ContextChoice, 'summaries'>,
): MeasuredPath {
  let { turns } = path;
  for (const { upTo } of runs) {
    const [start, end] = [turns.length - verbatimOf({ ...path, turns }).length, turns.findIndex(({ lastNode }) => lastNode === upTo)]; // prettier-ignore
    if (end < start) continue;
    turns = [...turns.slice(0, start), standIn(upTo, maxTokens), ...turns.slice(end + 1)];
  }
  return { ...path, turns };
}

const standIn = (upTo: NodeId, tokens: number): PathTurn => ({
  ...{ lastNode: upTo, tokens, messages: 0, whole: true, standsFor: { kind: 'summary', nodeId: upTo } },
});

/** The run that a plan takes from a path. */
export function runOf(path: MeasuredPath, { upTo, reason }: SegmentPlan, maxTokens: number): LeavingRun {
  const turns = verbatimOf(path);
  const left = turns.slice(0, turns.findIndex(({ lastNode }) => lastNode === upTo) + 1);
  const tokens = tokensOf(left);
  return { upTo, reason, turns: left.length, tokens, saves: Math.max(0, tokens - maxTokens) };
}

/** Runs for which a summary was made since stand as that. */
export function withMade(
  path: readonly PathStep[],
  made: readonly MadeSummary[],
  { segments, runs }: Leaving,
): Leaving {
  const [first, ...others] = runs;
  const next = first && nextSegment(path, made, segments, first.upTo);
  if (!first || next?.to !== first.upTo) return { segments, runs };
  return withMade(path, made, { segments: [...segments, next], runs: others });
}
