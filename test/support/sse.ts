import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** One frame of a turn's stream, as a client reads it. */
export interface Frame {
  readonly id: string | undefined;
  readonly event: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each kind of frame has a shape of its own
  readonly data: any;
}

/** The frames of an event stream that is open. Leave the loop, or call `leave`, to close the connection. */
export class Frames implements AsyncIterable<Frame> {
  constructor(
    private readonly response: Response,
    private readonly connection: AbortController,
  ) {}

  leave(): void {
    this.connection.abort();
  }

  /** Reads on until a frame of this kind, or one that passes the test, has come; answers with all read until then. */
  async until(found: string | ((frame: Frame) => boolean)): Promise<readonly Frame[]> {
    const isFound = typeof found === 'string' ? (frame: Frame) => frame.event === found : found;
    const seen: Frame[] = [];
    for (let next = await this.next(); next; next = await this.next()) {
      seen.push(next);
      if (isFound(next)) return seen;
    }
    throw new Error(`The stream ended, after ${seen.map(({ event }) => event).join(', ') || 'nothing'}.`);
  }

  /** All that is still to come. */
  async rest(): Promise<readonly Frame[]> {
    const seen: Frame[] = [];
    for (let next = await this.next(); next; next = await this.next()) seen.push(next);
    return seen;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Frame> {
    try {
      for (let next = await this.next(); next; next = await this.next()) yield next;
    } finally {
      this.leave();
    }
  }

  private iterator: AsyncIterator<Frame> | undefined;

  private async next(): Promise<Frame | undefined> {
    this.iterator ??= framesIn(this.response);
    const next = await this.iterator.next();
    return next.done ? undefined : next.value;
  }
}

async function* framesIn({ body }: Response): AsyncGenerator<Frame> {
  if (!body) return;
  const ready: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => void ready.push(message) });
  const decoder = new TextDecoder();
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (let next = ready.shift(); next; next = ready.shift())
      yield { id: next.id, event: next.event ?? 'message', data: JSON.parse(next.data) as unknown };
  }
}

/** Running text: what was said before anybody listened comes as one snapshot, and the rest as deltas. */
export const isText = ({ event }: Frame): boolean => event.startsWith('text.');

/** Whether so many characters of the one text that runs have come. */
export function hasText(characters: number): (frame: Frame) => boolean {
  let came = 0;
  return ({ event, data }) => {
    if (event === 'text.snapshot') came = data.text.length;
    if (event === 'text.delta') came += data.text.length;
    return came >= characters;
  };
}

/** What a person who reads along has on the screen for each node: a snapshot begins anew, a delta goes on, and a node that succeeded has all. */
export function textsOf(frames: readonly Frame[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { event, data } of frames) {
    if (event === 'text.delta') texts.set(data.nodeId, (texts.get(data.nodeId) ?? '') + data.text);
    if (event === 'text.snapshot') texts.set(data.nodeId, data.text);
    if (event === 'node.finished' && data.status === 'succeeded') texts.set(data.nodeId, data.text);
  }
  return texts;
}

/** The same while the text runs: it may lack what was said while nobody listened, or just before the end. */
export const runningTextsOf = (frames: readonly Frame[]): readonly string[] => [
  ...textsOf(frames.filter(isText)).values(),
];
