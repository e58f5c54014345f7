import { createParser, type EventSourceMessage } from 'eventsource-parser';
import fc from 'fast-check';
import type { TurnFrame } from '@palimpsest/application';
import { eventStream, frameText } from './event-stream';

const parse = (text: string): EventSourceMessage[] => {
  const messages: EventSourceMessage[] = [];
  createParser({ onEvent: (message) => messages.push(message) }).feed(text);
  return messages;
};

describe('a frame', () => {
  it('is read back as it was, whatever was said', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('\r\n\r\n', '\u2028', '\u0000', '\ud800'),
        (said, hard) => {
          const text = frameText({ id: '3.0', event: 'text.delta', data: { text: said + hard, revision: 3n } });
          const [message] = parse(text);
          expect(message).toMatchObject({ id: '3.0', event: 'text.delta' });
          expect(JSON.parse(message?.data ?? '')).toEqual({ text: said + hard, revision: '3' });
        },
      ),
    );
  });

  it('of running text has no id, so that it is not resumed from', () => {
    expect(frameText({ event: 'text.delta', data: {} })).toBe('event: text.delta\ndata: {}\n\n');
  });
});

describe('a stream', () => {
  const collect = async (texts: AsyncIterable<string>): Promise<string[]> => {
    const all: string[] = [];
    for await (const text of texts) all.push(text);
    return all;
  };
  const asError = (): TurnFrame => ({ event: 'error', data: { code: 'internal_error' } });

  it('breaks a silence with comments, and loses no frame over it', async () => {
    let speak = (): void => undefined;
    async function* silent(): AsyncGenerator<TurnFrame> {
      await new Promise<void>((resolve) => (speak = resolve));
      yield { id: '1.0', event: 'turn.started', data: {} };
    }
    const texts: string[] = [];
    const comments = () => texts.filter((text) => text === ': heartbeat\n\n').length;
    for await (const text of eventStream(silent(), 10, asError)) {
      texts.push(text);
      // The silence lasts until it was broken twice, however slow the machine.
      if (comments() === 2) speak();
    }
    expect(comments()).toBeGreaterThan(1);
    expect(parse(texts.join(''))).toEqual([{ id: '1.0', event: 'turn.started', data: '{}' }]);
  });

  it('ends with an error frame where the frames break', async () => {
    async function* broken(): AsyncGenerator<TurnFrame> {
      yield { id: '1.0', event: 'turn.started', data: {} };
      throw new Error('a sentence with content');
    }
    const texts = await collect(eventStream(broken(), 1_000, asError));
    expect(texts.at(-1)).toBe('event: error\ndata: {"code":"internal_error"}\n\n');
    expect(texts.join('')).not.toContain('content');
  });
});
