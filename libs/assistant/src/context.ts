import type { ModelChoice } from './model';

/** How what was said before makes way for what is said now. Messages are questions and final answers. */
export interface ContextChoice {
  /** When so many messages have gathered behind the last summary, the oldest leave together, all but `keep`. Null: however many there are. */
  readonly window: { readonly messages: number; readonly keep: number } | null;
  /** When a request passes this share of the model's input cap, the oldest turns leave until it is `below` that one. Null: only where it must. */
  readonly pressure: { readonly above: number; readonly below: number } | null;
  /** Turns that leave together, as soon as another one is behind them. Left out: however many there are. */
  readonly everyTurns?: number;
  /** When results of earlier turns are folded, before any turn leaves. Null: only where they must. */
  readonly folds: FoldChoice | null;
  readonly summaries: SummaryChoice;
}

/** `turn_end`: by the first request of the next turn. `pressure`: by the request that passes `pressure.above`, until it has `pressure.below`. */
export const foldChoices = ['turn_end', 'pressure'] as const;
export type FoldChoice = (typeof foldChoices)[number];

/** How what leaves is summarised. */
export interface SummaryChoice {
  /** Who writes the summary; left out: the assistant's own model. */
  readonly model?: ModelChoice;
  /** What it is asked for; left out: the default of `libs/turns`. */
  readonly instruction?: string;
  /** Tokens of one summary at most. */
  readonly maxTokens: number;
  /** Tokens of all summaries in a request; beyond, they and what is behind them are compacted into one. */
  readonly totalTokens: number;
}

/** As it is asked for: what is left out is as by default, and null turns a part off. */
export interface ContextWanted {
  readonly window?: { readonly messages?: number; readonly keep?: number } | null;
  readonly pressure?: { readonly above?: number; readonly below?: number } | null;
  readonly everyTurns?: number;
  readonly folds?: FoldChoice | null;
  readonly summaries?: Partial<SummaryChoice>;
}

const WINDOW = { messages: 24, keep: 12 };
const PRESSURE = { above: 0.7, below: 0.4 };
/** As measured by `npm run bench -- contexts`. */
const FOLDS = 'turn_end';
/** A summary is a twentieth of the input cap, within these bounds; all of them together are so many of it. Tokens. */
const [SHORTEST, LONGEST, SHARE, TOGETHER] = [200, 1_000, 1 / 20, 6];

/** What a new version of an assistant keeps to from here on; a sentence where it contradicts itself. */
export function contextChoice(
  wanted: ContextWanted,
  { inputCap }: Pick<ModelChoice, 'inputCap'>,
): { readonly choice: ContextChoice } | { readonly problem: string } {
  const window = wanted.window === null ? null : { ...WINDOW, ...wanted.window };
  const pressure = wanted.pressure === null ? null : { ...PRESSURE, ...wanted.pressure };
  const { maxTokens = Math.round(Math.min(LONGEST, Math.max(SHORTEST, inputCap * SHARE))), ...others } =
    wanted.summaries ?? {};
  const { totalTokens = TOGETHER * maxTokens } = others;
  if (window && window.keep >= window.messages)
    return { problem: `context.window keeps ${window.keep} messages of ${window.messages}: it has to keep fewer.` };
  if (pressure && pressure.below >= pressure.above)
    return { problem: `context.pressure.below is ${pressure.below}: it has to be less than above, ${pressure.above}.` };
  if (totalTokens < maxTokens)
    return { problem: `context.summaries.totalTokens is ${totalTokens}, and one summary may have ${maxTokens}.` };
  const { everyTurns, folds = FOLDS } = wanted;
  const summaries = { ...others, maxTokens, totalTokens };
  return { choice: { window, pressure, ...(everyTurns !== undefined && { everyTurns }), folds, summaries } };
}
