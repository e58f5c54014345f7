import type { AssertedContent, EventOf, Extracted, NodeId, WorkAnswer } from '@palimpsest/conversation';
import { ITEM_TAGS } from '@palimpsest/conversation';
import { type ExtractedStatement, readExtraction, type StateSchema } from '@palimpsest/dialogue-state';
import { endingOfResponse, textOfItems } from '@palimpsest/providers';
import type { Statements } from '../statements';
import type { JudgeAnswer } from '../work-calls';
import { anchorsOf, type Exchange } from './exchange';

/** What an extraction is judged by. */
export interface ExtractionOf {
  readonly conversationId: string;
  /** The extraction itself. */
  readonly nodeId: NodeId;
  readonly exchange: Exchange;
  readonly schema: StateSchema;
}

/** Takes an answer that fits in every place, with what it found; any other is a failure, and changes nothing. */
export function judgeExtraction(statements: Statements, extraction: ExtractionOf): JudgeAnswer {
  const { exchange, schema } = extraction;
  const turn = { schema, question: exchange.question.text, moment: exchange.moment };
  return async ({ response, usage, stopReason }, items): Promise<WorkAnswer> => {
    const text = textOfItems(items);
    const ending = endingOfResponse(response);
    const read =
      ending === 'complete'
        ? readExtraction(text, turn, ITEM_TAGS)
        : ({ ok: false, detail: `It is not whole: ${ending}.` } as const);
    if (!read.ok) {
      const detail = `The answer says nothing that can be taken. ${read.detail}`;
      return { status: 'failed', reason: 'unusable_answer', detail, ...(text !== '' && { partial: text }) };
    }
    const said = read.found.statements.map((statement) => eventOf(statements, extraction, statement));
    const tags = read.found.tags.flatMap(({ message, tag }) =>
      message === 'question'
        ? [{ nodeId: exchange.first.nodeId, item: exchange.questionAt, tag }]
        : exchange.answerAt.map((item) => ({ nodeId: exchange.last.nodeId, item, tag })),
    );
    const extracted: Extracted = { statements: await Promise.all(said), tags };
    return { status: 'succeeded', usage, stopReason, response, extracted };
  };
}

/** The user's words belong to the node that sent them, what a model inferred to the one that ended the turn. */
async function eventOf(
  statements: Statements,
  { conversationId, nodeId: extraction, exchange }: ExtractionOf,
  { field, by, content, retract }: ExtractedStatement,
): Promise<EventOf<'StateAsserted' | 'StateRetracted'>> {
  const { turnId } = exchange;
  const routing = await statements.routing(conversationId, field, { by, content, turnId });
  const data = { ...routing, nodeId: anchorsOf(exchange)[by], extraction };
  return retract
    ? { type: 'StateRetracted', data, content }
    : { type: 'StateAsserted', data, content: content as AssertedContent };
}
