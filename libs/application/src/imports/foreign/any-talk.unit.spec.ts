import fc from 'fast-check';
import { asChatGpt, asLibreChat, asOpenWebUi, type Talk, talks } from '../../../testing/arbitrary-talks';
import type { ConversationDocument, DocumentNode } from '../document';
import { readDocument } from '../read-document';
import { foreignFormatOf, type ForeignReading, readForeign } from './index';

/** Read as the program's whose shape it has, and found sound. */
function read(entry: unknown): Extract<ForeignReading, { document: unknown }> {
  const format = foreignFormatOf(entry);
  if (!format) throw new Error('Its shape is none that is known.');
  const reading = readForeign(entry, format);
  if ('fault' in reading) throw new Error(`${reading.fault}: ${reading.detail}`);
  expect(readDocument(reading.document)).toEqual({ document: reading.document });
  return reading;
}

/** A document by its turns, each named by its first and its last message. */
function turnsOf({ nodes, conversation }: ConversationDocument) {
  const turns = new Map<string, DocumentNode[]>();
  for (const node of nodes) turns.set(node.turn ?? '', [...(turns.get(node.turn ?? '') ?? []), node]);
  const keyOf = (of: readonly DocumentNode[]) => `${of[0]?.messages?.[0]}/${of.at(-1)?.messages?.at(-1)}`;
  const keys = new Map([...turns.values()].flatMap((of) => of.map((node) => [node.id, keyOf(of)])));
  const results = nodes.flatMap(({ sent, unsent = [] }) => [...sent, ...unsent]);
  const resultOf = (id: string) => results.find((item) => item.type === 'tool_result' && item.toolCallId === id);
  return {
    head: conversation.head && keys.get(conversation.head),
    turns: [...turns.values()].map((of) => ({
      key: keyOf(of),
      under: keys.get(of[0]?.parent ?? '') ?? null,
      at: of[0]?.begins?.at,
      question: of[0]?.sent.flatMap((item) => (item.type === 'user' ? item.text : [])).join(),
      status: of.at(-1)?.status,
      said: of
        .flatMap(({ received }) => received)
        .map((item) =>
          item.type === 'tool_call'
            ? { call: item.name, arguments: item.arguments, result: resultOf(item.toolCallId)?.text }
            : { [item.type]: item.text },
        ),
    })),
  };
}

const expected = ({ turns }: Talk) =>
  turns.map(({ key, under, question, answer }) => ({
    ...{ key, under: under?.key ?? null, question: question.text },
    at: new Date(question.at * 1000).toISOString(),
    status: answer ? 'succeeded' : 'failed',
    said: !answer
      ? []
      : [
          ...(answer.reasoning ? [{ reasoning: answer.reasoning }] : []),
          ...(answer.call
            ? [{ call: answer.call.name, arguments: answer.call.arguments, result: answer.call.result }]
            : []),
          ...(answer.text ? [{ assistant: answer.text }] : []),
        ],
  }));

/** Turns of one place in their order; which place comes first is open. */
const byPlace = <T extends { under: string | null }>(turns: readonly T[]) =>
  new Map(
    [...new Set(turns.map(({ under }) => under))]
      .sort()
      .map((place) => [place, turns.filter(({ under }) => under === place)]),
  );

describe('any conversation', () => {
  it.each([
    ['ChatGPT', asChatGpt],
    ['Open WebUI', asOpenWebUi],
  ] as const)('of %s keeps its questions, answers, branches, their order, times and the current one', (_, write) => {
    fc.assert(
      fc.property(talks, (talk) => {
        const found = turnsOf(read(write(talk)).document);
        expect(byPlace(found.turns)).toEqual(byPlace(expected(talk)));
        expect(found.head).toBe(talk.current?.key);
      }),
      { numRuns: 60 },
    );
  });

  it('of LibreChat keeps its questions, answers, branches, their order and times, as a list or as a tree', () => {
    fc.assert(
      fc.property(talks, fc.boolean(), (talk, recursive) => {
        const { document } = read(asLibreChat(talk, recursive));
        const found = turnsOf(document);
        expect(byPlace(found.turns)).toEqual(byPlace(expected(talk)));
        expect(found.head).toBe(found.turns.at(-1)?.key);
      }),
      { numRuns: 60 },
    );
  });
});
