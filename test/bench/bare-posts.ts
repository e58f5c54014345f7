import OpenAI from 'openai';
import { createHash } from 'node:crypto';
import { sum } from './rows';
import type { Site } from './site';

/** What it costs to send the very bytes of a turn's requests, and nothing else: what no backend can do without. */
export class BarePosts {
  private readonly sdk: OpenAI;

  constructor(private readonly site: Site) {
    this.sdk = new OpenAI({ apiKey: 'bench', baseURL: site.model.nothing, maxRetries: 0 });
  }

  /**
   * Milliseconds to put the two bodies of a turn that just ended together, to hash them as often as we do, and to post them; without the
   * server's own. The bytes come from the model's process, so that the server that is measured has nothing to do with it.
   */
  async likeLastTurn(turn: number): Promise<{ readonly barePosts: number; readonly sentBytes: number }> {
    const bodies: Buffer[] = [];
    for (const which of [0, 1]) bodies.push(await this.body(which));
    await this.site.model.takeSpentMs();
    const began = performance.now();
    for (const body of bodies) await this.post(inPieces(body, 4 * turn));
    const barePosts = performance.now() - began - (await this.site.model.takeSpentMs());
    return { barePosts, sentBytes: sum(bodies.map(({ length }) => length)) };
  }

  private async body(which: number): Promise<Buffer> {
    const response = await fetch(`${this.site.model.nothing}/bodies/${which}`);
    return Buffer.from(await response.arrayBuffer());
  }

  private async post(pieces: readonly Buffer[]): Promise<void> {
    const body = Buffer.concat(pieces);
    const recorded = createHash('sha256').update(body).digest('hex');
    if (createHash('sha256').update(body).digest('hex') !== recorded)
      throw new Error('The same bytes have two digests.');
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    const response = await this.sdk.post('/chat/completions', { body, headers }).asResponse();
    await response.text();
  }
}

/** Cut before the clock starts, as the messages of a request are at hand. */
function inPieces(body: Buffer, count: number): readonly Buffer[] {
  const size = Math.ceil(body.length / count);
  return Array.from({ length: count }, (_, n) => body.subarray(n * size, (n + 1) * size));
}
