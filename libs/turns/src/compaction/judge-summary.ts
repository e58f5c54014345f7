import { estimatingCounter } from '@palimpsest/context';
import type { WorkAnswer } from '@palimpsest/conversation';
import { type Ending, endingOfResponse, holdsCompaction, textOfItems } from '@palimpsest/providers';
import type { JudgeAnswer } from '../work-calls';

/** Answers of servers and gateways that are errors, though they came with a good status. */
const ERRORS = [
  /^\s*\{\s*"(error|detail)"\s*:/i,
  /^\s*<(!doctype|html)\b/i,
  /^\s*(api |internal |server |upstream |request )*(error|exception)\b/i,
  /^\s*(upstream connect error|bad gateway|service unavailable|gateway time-?out|too many requests|rate limit)/i,
  /^\s*(http(\/[\d.]+)? )?[45]\d\d (bad|unauthorized|forbidden|not found|request|payload|too many|internal|service|gateway|error)/i,
];

const why: Readonly<Partial<Record<Ending, string>>> = {
  cut: 'it was cut off for its length',
  refused: 'the model refused, or a filter did',
  tool_calls: 'the model asked for a tool instead',
  paused: 'the model paused before it was done',
};

/**
 * Whether an answer may stand for all that was said before. One that may not is a failure, and nothing is lost by it: the conversation stays
 * as it was. So it errs towards refusing.
 */
export const judgeSummary = (({ response, usage, stopReason }, items): WorkAnswer => {
  const text = textOfItems(items);
  const unfit =
    why[endingOfResponse(response)] ??
    (items.some((item) => item.type === 'tool_call') ? why.tool_calls : undefined) ??
    (text.trim() === '' ? 'it holds no text' : undefined) ??
    (ERRORS.some((error) => error.test(text)) ? 'it reads like the error of a server' : undefined);
  if (unfit === undefined) return { status: 'succeeded', usage, stopReason, response };
  const detail = `The answer is no summary: ${unfit}.`;
  return { status: 'failed', reason: 'unusable_answer', detail, ...(text !== '' && { partial: text }) };
}) satisfies JudgeAnswer;

/** An estimate may be off by so much. */
const ESTIMATES_AT_MOST = 1.5;

/** Whether an answer may stand for a part of what was said: short enough for many of them to stand in a request. */
export const judgeSegment =
  (maxTokens: number): JudgeAnswer =>
  (answer, items) => {
    const judged = judgeSummary(answer, items);
    const partial = textOfItems(items);
    const tokens = estimatingCounter().text(partial);
    if (judged.status === 'failed' || tokens <= maxTokens * ESTIMATES_AT_MOST) return judged;
    const detail = `The answer is no summary: it has about ${tokens} tokens, and one may have ${maxTokens}.`;
    return { status: 'failed', reason: 'unusable_answer', detail, partial };
  };

/** Whether an answer is a compaction in its provider's own form, and nothing besides: that alone goes back to it. */
export const judgeOwnForm: JudgeAnswer = ({ response, usage, stopReason }, items): WorkAnswer => {
  if (endingOfResponse(response) === 'compacted' && holdsCompaction(response) && items.length === 0)
    return { status: 'succeeded', usage, stopReason, response };
  const partial = textOfItems(items);
  const detail = 'The provider gave no compaction: it makes none of a request that is too small for it.';
  return { status: 'failed', reason: 'unusable_answer', detail, ...(partial !== '' && { partial }) };
};
