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

/**
 * The running text of a turn is in its carrier's memory alone. Whoever follows the turn at another process gets it from there, through the
 * feed of this one; where the carrier can't be reached, there are the durable events alone, and the whole text with the last of them.
 */
export class RemoteTexts {
  private readonly piped = new Set<string>();

  constructor(private readonly options: RemoteTextsOptions) {}

  /** Begins to pass on a node's text, unless its turn is carried here or somebody passes it on already. Ends with the text, or by `until`. */
  pipe(conversationId: string, turnId: string, nodeId: string, until: AbortSignal): void {
    if (this.piped.has(nodeId) || this.options.feed.textOf(nodeId) !== undefined) return;
    this.piped.add(nodeId);
    this.run(conversationId, turnId, nodeId, until)
      .catch((error: unknown) => until.aborted || this.options.onError(error))
      .finally(() => this.piped.delete(nodeId));
  }

  private async run(conversationId: string, turnId: string, nodeId: string, until: AbortSignal): Promise<void> {
    const { leases, feed, token } = this.options;
    const address = await leases.addressOf(turnId);
    if (address === undefined) return;
    const url = new URL(runningTextPath(conversationId, nodeId), address);
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${token}` },
      signal: until,
      redirect: 'error',
    });
    if (!response.ok || !response.body) return;
    for await (const line of lines(response.body)) {
      const { text, from } = JSON.parse(line) as RunningText;
      if (from === 0) feed.snapshot(conversationId, nodeId, text);
      else feed.text(conversationId, nodeId, text);
    }
  }
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
