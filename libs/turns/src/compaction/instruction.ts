/** A provider that compacts by itself has words of its own. A request ends with somebody's message all the same. */
export const COMPACT = 'Compact this conversation.';

/** What a summary is asked for where the assistant does not say. The simulated model knows it by its first words. */
export const SUMMARISE = `Summarise this conversation for whoever continues it. They will see your summary instead of all the messages above.

Keep: what the person wants and has decided; every value, name, date, amount and identifier that may matter, exactly as it stands, and of a value that changed only the latest; what was looked up, with the figures and where they came from; what is still open.
Leave out: greetings, thanks, repetitions, and how the answers were put together.
Write in the language of the conversation. Answer with the summary alone. Do not call any tool.`;
