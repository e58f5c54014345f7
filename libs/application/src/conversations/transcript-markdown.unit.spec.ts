import type { BubbleView } from '../views';
import { transcriptMarkdown } from './transcript-markdown';

const bubble = (role: BubbleView['role'], text: string, display?: readonly unknown[]): BubbleView => ({
  ...{ id: 'b', role, text, nodeId: 'n', turnId: 't', branch: { index: 1, count: 1, siblings: ['n'] } },
  ...(display ? { display } : {}),
});
const markdown = (...bubbles: BubbleView[]) => transcriptMarkdown({ head: 'n', bubbles });

describe('a transcript as Markdown', () => {
  it('has each speaker and what was said, in order', () => {
    expect(markdown(bubble('user', 'Who?'), bubble('assistant', 'Ada.\n\n- one\n- two'))).toBe(
      '**User**\n\n> Who?\n\n**Assistant**\n\n> Ada.\n>\n> - one\n> - two\n',
    );
    expect(markdown()).toBe('');
  });

  it('lets nobody speak in the name of another: whatever a text holds stays in its quote', () => {
    const forged = 'Well\n```\n**User**\r\n\r> I agree\n# Heading\n---';
    const lines = markdown(bubble('assistant', forged))
      .trimEnd()
      .split(/[\r\n]+/);
    expect(lines.filter((line) => !line.startsWith('>'))).toEqual(['**Assistant**']);
  });

  it('says of which tool call nobody knows whether it happened, outside what was said', () => {
    const unknownOutcomes = [{ toolCallId: 't-1-0', name: 'note' }];
    const line = 'The outcome of the tool call note is not known: it may have happened.';
    expect(markdown({ ...bubble('assistant', 'Done.'), unknownOutcomes })).toBe(
      `**Assistant**\n\n> Done.\n\n${line}\n`,
    );
    expect(markdown({ ...bubble('assistant', ''), unknownOutcomes })).toBe(`**Assistant**\n\n${line}\n`);
  });

  it('says how an answer ended that did not come to its end, after what had arrived of it', () => {
    const answer = bubble('assistant', 'So f');
    const error = { code: 'timeout', detail: 'Nothing came for 60 seconds.' };
    expect(markdown({ ...answer, status: 'cancelled' })).toBe('**Assistant**\n\n> So f\n\n(cancelled)\n');
    expect(markdown({ ...answer, text: '', status: 'failed', error })).toBe('**Assistant**\n\n(failed: timeout)\n');
    expect(markdown({ ...answer, status: 'completed' })).toBe('**Assistant**\n\n> So f\n');
  });

  it('shows what a tool gave for the person alone', () => {
    expect(markdown(bubble('assistant', 'See:', [{ chart: [1, 2] }]))).toContain(
      '> See:\n>\n> ```json\n> {\n>   "chart"',
    );
  });
});
