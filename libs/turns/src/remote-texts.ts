import { setTimeout as sleep } from 'node:timers/promises';
import type { Leases } from './leases';
import type { RunningText, TurnFeed } from './turn-feed';

export interface RemoteTextsOptions {
  readonly leases: Leases;
  readonly feed: TurnFeed;
  /** Proves to the other process that this one belongs to the same installation. */
  readonly token: string;
  readonly onError: (error: unknown) => void;
}

/** The path at which a process serves the running text of what it carries, as lines of `RunningText`. */
export const runningTextPath = (conversationId: string, nodeId: string): string =>
  `/internal/conversations/${conversationId}/nodes/${nodeId}/text`;

/** Milliseconds before the carrier is asked again: the call may not have begun there, or another process may be taking it over. */
const RETRY_MS = 250;

/** Milliseconds that whoever cancels waits for the text so far. */
const PATIENCE_MS = 1_000;

/** What is passed on for one node, to all who listen here. */
interface Pipe {
  listeners: number;
  readonly stopping: AbortController;
  /** What the carrier has told. */
  text: string | undefined;
}

/**
 * The running text of a turn is in its carrier's memory alone. Whoever follows the turn at another process gets it from there, through the
 * feed of this one; where the carrier can't be reached, there are the durable events alone, and the whole text with the last of them.
 */
export class RemoteTexts {
  private readonly pipes = new Map<string, Pipe>();

  constructor(private readonly options: RemoteTextsOptions) {}

  /** Passes a node's text on until `until`, by when its call has ended or whoever listens has left; nothing where it is carried here. */
  pipe(conversationId: string, turnId: string, nodeId: string, until: AbortSignal): void {
    if (until.aborted) return;
    const pipe = this.pipes.get(nodeId) ?? this.open(conversationId, turnId, nodeId);
    if (!pipe) return;
    pipe.listeners += 1;
    const leave = () => {
      pipe.listeners -= 1;
      if (pipe.listeners === 0) this.close(nodeId, pipe);
    };
    until.addEventListener('abort', leave, { once: true });
  }

  /** The text so far, wherever it is; undefined where nothing is known of it within a second. */
  async soFar(conversationId: string, turnId: string, nodeId: string): Promise<string | undefined> {
    const here = this.options.feed.textOf(nodeId);
    if (here !== undefined) return here;
    const enough = new AbortController();
    try {
      const told = await this.told(
        conversationId,
        turnId,
        nodeId,
        AbortSignal.any([enough.signal, AbortSignal.timeout(PATIENCE_MS)]),
      );
      for await (const { text } of told) return text;
    } catch (error) {
      this.options.onError(error);
    } finally {
      enough.abort();
    }
    return undefined;
  }

  private open(conversationId: string, turnId: string, nodeId: string): Pipe | undefined {
    if (this.options.feed.textOf(nodeId) !== undefined) return undefined;
    const pipe: Pipe = { listeners: 0, stopping: new AbortController(), text: undefined };
    this.pipes.set(nodeId, pipe);
    void this.run(conversationId, turnId, nodeId, pipe);
    return pipe;
  }

  private close(nodeId: string, pipe: Pipe): void {
    pipe.stopping.abort();
    if (this.pipes.get(nodeId) === pipe) this.pipes.delete(nodeId);
    this.forget(nodeId, pipe);
  }

  /** A text that nobody goes on with would be taken for the whole by the next who comes. */
  private forget(nodeId: string, pipe: Pipe): void {
    const { feed } = this.options;
    if (pipe.text !== undefined && feed.textOf(nodeId) === pipe.text) feed.forget(nodeId);
    pipe.text = undefined;
  }

  private async run(conversationId: string, turnId: string, nodeId: string, pipe: Pipe): Promise<void> {
    const { signal } = pipe.stopping;
    let complained = false;
    while (!signal.aborted) {
      try {
        await this.read(conversationId, turnId, nodeId, pipe);
      } catch (error) {
        if (!signal.aborted && !complained) this.options.onError(error);
        complained = true;
      }
      this.forget(nodeId, pipe);
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      // Then it is carried here by now.
      if (this.options.feed.textOf(nodeId) !== undefined) return this.close(nodeId, pipe);
    }
  }

  private async read(conversationId: string, turnId: string, nodeId: string, pipe: Pipe): Promise<void> {
    const { feed } = this.options;
    const { signal } = pipe.stopping;
    for await (const { text, from } of await this.told(conversationId, turnId, nodeId, signal)) {
      if (signal.aborted) return;
      if (from === 0) feed.snapshot(conversationId, nodeId, text);
      else feed.text(conversationId, nodeId, text);
      pipe.text = feed.textOf(nodeId);
    }
  }

  /** What the carrier tells, from the text so far on; nothing where there is none that can be reached. */
  private async told(
    conversationId: string,
    turnId: string,
    nodeId: string,
    signal: AbortSignal,
  ): Promise<AsyncIterable<RunningText>> {
    const { leases, token } = this.options;
    const address = await leases.addressOf(turnId);
    if (address === undefined || signal.aborted) return nothing();
    const url = new URL(runningTextPath(conversationId, nodeId), address);
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal, redirect: 'error' });
    return response.ok && response.body ? texts(response.body) : nothing();
  }
}

async function* nothing(): AsyncIterable<never> {
  // The carrier of the turn is this process, or none.
}

async function* texts(body: AsyncIterable<Uint8Array>): AsyncIterable<RunningText> {
  for await (const line of lines(body)) yield JSON.parse(line) as RunningText;
}

async function* lines(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
}
