import { createParser, type EventSourceMessage } from 'eventsource-parser';

/**
 * The events of an SSE body, as they arrive. Rejects where the connection breaks; leaving the loop closes it. `heard` is told of any bytes:
 * some servers keep a connection alive by comments, which are no events.
 */
export async function* serverSentEvents(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<EventSourceMessage> {
  const arrived: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => arrived.push(event) });
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    heard();
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield* arrived.splice(0);
  }
  // Some servers end without the blank line that ends an event.
  parser.feed('\n\n');
  yield* arrived;
}
