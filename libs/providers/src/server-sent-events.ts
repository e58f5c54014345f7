import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** The events of an SSE body, as they arrive. Rejects where the connection breaks; leaving the loop closes it. */
export async function* serverSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<EventSourceMessage> {
  const arrived: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => arrived.push(event) });
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield* arrived.splice(0);
  }
  // Some servers end without the blank line that ends an event.
  parser.feed('\n\n');
  yield* arrived;
}
