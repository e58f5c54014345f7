import type { SummaryChoice } from '@palimpsest/assistant';

/** A provider that compacts by itself has words of its own. A request ends with somebody's message all the same. */
export const COMPACT = 'Compact this conversation.';

/** What a summary is asked for where the assistant does not say. The simulated model knows it by its first words. */
export const SUMMARISE = `Summarise this conversation for whoever continues it. They will see your summary instead of all the messages above.

Keep: what the person wants and has decided; every value, name, date, amount and identifier that may matter, exactly as it stands, and of a value that changed only the latest; what was looked up, with the figures and where they came from; what is still open.
Leave out: greetings, thanks, repetitions, and how the answers were put together.
Write in the language of the conversation. Answer with the summary alone. Do not call any tool.`;

/** What a summary of a part is asked for. The simulated model knows it by its first words too. */
const SUMMARISE_PART = `Summarise this conversation from behind its last summary on, for whoever continues it. They will see the summaries that stand above, then yours, instead of the messages.

Keep: what the person wants and has decided; every value, name, date, amount and identifier that may matter, exactly as it stands, and of a value that changed only the latest; what was looked up, with the figures and where they came from; what is still open.
Leave out: what an earlier summary says already, greetings, thanks, repetitions, and how the answers were put together.`;

const INSTRUCTIONS_ARE_STATE =
  'Leave out, too, how the person wants to be answered (language, length, form): that is kept elsewhere, and told anew with each question.';

const LAST_WORDS = 'Write in the language of the conversation. Answer with the summary alone. Do not call any tool.';

/** A word is about so many tokens. */
const WORDS_PER_TOKEN = 0.7;

/** `keepsInstructions`: the state of the dialogue has a field for how to answer. */
export function segmentInstruction(
  { instruction, maxTokens }: Pick<SummaryChoice, 'instruction' | 'maxTokens'>,
  keepsInstructions: boolean,
): string {
  const words = Math.max(1, Math.floor(maxTokens * WORDS_PER_TOKEN));
  const length = `Write at most ${words} words (${maxTokens} tokens): a longer answer is thrown away.`;
  const own = [SUMMARISE_PART, ...(keepsInstructions ? [INSTRUCTIONS_ARE_STATE] : []), LAST_WORDS];
  return [...(instruction === undefined ? own : [instruction]), length].join('\n');
}
