import type { BubbleView, TranscriptView } from '../views';

/**
 * What a person read, as Markdown: each speaker's name, then what was said as a block quote. Nothing that stands in a quote (a heading, an
 * open code fence, a speaker's name) reaches beyond it, so nobody can put words into the other's mouth.
 */
export function transcriptMarkdown({ bubbles }: TranscriptView): string {
  return bubbles.map(said).join('\n');
}

function said({ role, text, status, error, display = [], unknownOutcomes = [] }: BubbleView): string {
  const shown = display.map((data) => ['```json', JSON.stringify(data, null, 2), '```'].join('\n'));
  const unknown = unknownOutcomes.map(
    ({ name }) => `The outcome of the tool call ${name} is not known: it may have happened.\n`,
  );
  const quotes = [text, ...shown].filter((part) => part !== '').join('\n\n');
  const parts = [...(quotes === '' ? [] : [`${quoted(quotes)}\n`]), ...endedAs(status, error), ...unknown];
  return [`**${role === 'user' ? 'User' : 'Assistant'}**\n`, ...parts].join('\n');
}

function endedAs(status: BubbleView['status'], error: BubbleView['error']): readonly string[] {
  if (status === 'cancelled') return ['(cancelled)\n'];
  return status === 'failed' ? [`(failed: ${error?.code ?? 'unknown'})\n`] : [];
}

const quoted = (text: string): string =>
  text
    .split(/\r\n|[\r\n]/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n');
