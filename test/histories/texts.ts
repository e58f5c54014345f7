import type { AnsweredToolCall } from '@palimpsest/conversation';

/**
 * Every text of a history names where it comes from, in a form that JSON leaves alone: `Q<turn>` a question, `I<node>` an instruction,
 * `A<node>` an answer, `C<call>` arguments, `R<call>` a result. So a request's bytes say whose texts they hold.
 */
export type Mark = `${'Q' | 'I' | 'A' | 'C' | 'R'}<${string}>`;

export const marksIn = (text: string): ReadonlySet<string> => new Set(text.match(/[QIACR]<[^>]+>/g) ?? []);

/** Longer than what a fold leaves standing. */
const LONG = 'lorem ipsum '.repeat(400);

/** The mark stands at the end: the head that a fold keeps does not hold it. */
export const resultText = (toolCallId: string, long: boolean): string => `${long ? LONG : ''}R<${toolCallId}>`;

/** An answer in a provider's own format, as `CallSucceeded` keeps it. */
export function responseOf(
  provider: string,
  nodeId: string,
  calls: readonly AnsweredToolCall[],
  text = `A<${nodeId}>`,
): unknown {
  const args = calls.map((_, index) => JSON.stringify({ query: `C<${nodeId}-${index}>` }));
  if (provider === 'anthropic') {
    const uses = args.map((raw, n) => ({
      type: 'tool_use',
      id: `toolu_${nodeId}_${n}`,
      name: 'tool',
      input: {},
      input_json: raw,
    }));
    const stop_reason = uses.length ? 'tool_use' : 'end_turn';
    return { format: 'anthropic.messages', role: 'assistant', stop_reason, content: [{ type: 'text', text }, ...uses] };
  }
  // Some servers count their calls from 0 in each answer: ids that repeat.
  const tool_calls = args.map((raw, n) => ({
    id: `call_${n}`,
    type: 'function',
    function: { name: 'tool', arguments: raw },
  }));
  const message = { role: 'assistant', content: text, ...(tool_calls.length ? { tool_calls } : {}) };
  return { format: 'openai.chat', choices: [{ message, finish_reason: tool_calls.length ? 'tool_calls' : 'stop' }] };
}

/** The state blocks of a request, as a model reads them. */
export const blocksIn = (bytes: Buffer): readonly string[] =>
  [...bytes.toString('utf8').matchAll(/<state>\\n(.*?)\\n<\/state>/g)].map(
    ([, block]) => JSON.parse(`"${block}"`) as string,
  );
