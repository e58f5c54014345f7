import { syntheticText } from '@palimpsest/conversation';
import type { DocumentNode, DocumentResult } from '../document';
import { type Answered, type AnswerPart, answered, type ForeignMessage, type NoteCounts } from './tree';

type Received = DocumentNode['received'][number];

/** The rounds of an answer: what is said behind results of tool calls is the next call's. At least one. */
export function roundsOf(messages: readonly ForeignMessage[], notes: NoteCounts): readonly Round[] {
  let round = new Round();
  const rounds = [round];
  for (const message of messages) {
    const answer = answered(message);
    if (!answer) continue;
    const parts = answer.parts.filter((part) => !isSilent(part));
    for (const part of parts) {
      if (part.type !== 'tool_result' && round.hasResults) rounds.push((round = new Round()));
      if (!round.put(part, message)) notes.add('result_without_call');
    }
    round.end(message, answer, parts.length === 0);
  }
  return rounds;
}

const isSilent = (part: AnswerPart): boolean =>
  (part.type === 'assistant' || part.type === 'reasoning') && part.text === '';

interface Call {
  readonly key: string | undefined;
  readonly name: string;
  readonly arguments: string;
  /** Its place among the items. */
  readonly at: number;
  result?: { readonly text: string; readonly isError: boolean };
}

/** One model call of an answer, piece by piece. */
export class Round {
  /** That it was made of; none where nothing was answered. */
  readonly messages: ForeignMessage[] = [];
  /** The last one of them that says more than a result. */
  speaker: ForeignMessage | null = null;
  /** What the message says of the whole call with which it ended. */
  ended: Answered | null = null;
  private readonly items: (Received | null)[] = [];
  private readonly calls: Call[] = [];

  get hasResults(): boolean {
    return this.calls.some(({ result }) => result !== undefined);
  }

  /** The words of the answer itself. */
  get said(): string {
    return this.items.flatMap((item) => (item?.type === 'assistant' ? item.text : [])).join('\n\n');
  }

  /** False: the result of no call here. */
  put(part: AnswerPart, message: ForeignMessage): boolean {
    this.join(message);
    if (part.type === 'tool_result') return this.answer(part);
    this.speaker = message;
    if (part.type === 'tool_call') {
      const { key, name } = part;
      this.calls.push({ key, name, arguments: part.arguments, at: this.items.length });
      this.items.push(null);
    } else this.items.push({ type: part.type, text: part.text });
    return true;
  }

  end(message: ForeignMessage, answer: Answered, silent: boolean): void {
    this.join(message);
    if (silent) this.speaker ??= message;
    if (this.speaker === message) this.ended = answer;
  }

  /**
   * With ids for its calls. A call of which the file has no result gets one that says so: no later request may leave it unanswered.
   */
  received(nodeId: string, notes: NoteCounts): { received: Received[]; results: readonly DocumentResult[] } {
    const items = [...this.items];
    const results = this.calls.map(({ name, arguments: raw, at, result }, index): DocumentResult => {
      const toolCallId = `${nodeId}-${index}`;
      items[at] = { type: 'tool_call', toolCallId, name, arguments: raw };
      if (result) return { type: 'tool_result', toolCallId, ...result };
      notes.add('call_without_result');
      const text = syntheticText('interrupted');
      return { type: 'tool_result', toolCallId, text, isError: true, synthetic: 'interrupted' };
    });
    return { received: items.filter((item) => item !== null), results };
  }

  private join(message: ForeignMessage): void {
    if (this.messages.at(-1) !== message) this.messages.push(message);
  }

  private answer({ key, name, text, isError }: Extract<AnswerPart, { type: 'tool_result' }>): boolean {
    const isNamed = (call: Call) => (key !== undefined ? call.key === key : isCalled(call, name));
    const call =
      this.calls.find((one) => !one.result && isNamed(one)) ??
      (key === undefined ? this.calls.find(({ result }) => !result) : undefined) ??
      this.calls.findLast(isNamed);
    if (!call) return false;
    const { result } = call;
    // A tool that answers in several messages, a page in each.
    call.result = result
      ? { text: `${result.text}\n\n${text}`, isError: result.isError || isError }
      : { text, isError };
    return true;
  }
}

/** Some tools answer under a shorter name than the one they were called by, or a longer one. */
function isCalled(call: Call, name: string | undefined): boolean {
  if (name === undefined) return false;
  return call.name === name || call.name.startsWith(`${name}.`) || name.startsWith(`${call.name}.`);
}
