import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { chatChunks, chatWhole } from './chat-reply';
import { type Directive, numberOption } from './directives';
import type { Format } from './heard';
import { messageEvents, messageWhole } from './message-reply';
import { printRefusal, type Refusal, scriptedRefusal } from './refusal';
import type { Spoken } from './spoken';

const MOST_COUNTED = 10_000;

/** How a test wants the answer to behave on the wire. `round=N` limits a directive to a round, `times=N` to the first N attempts. */
export class Conduct {
  private readonly active: readonly Directive[];

  constructor(directives: readonly Directive[], round: number, sha256: string, attempts: Map<string, number>) {
    const here = directives.filter((directive) => numberOption(directive, 'round', round) === round);
    let attempt = 1;
    if (here.some((directive) => directive.options.has('times'))) {
      attempt = (attempts.get(sha256) ?? 0) + 1;
      if (attempts.size >= MOST_COUNTED) attempts.clear();
      attempts.set(sha256, attempt);
    }
    this.active = here.filter((directive) => attempt <= numberOption(directive, 'times', Infinity));
  }

  /** The event before which this happens; Infinity for never. */
  after(verb: string): number {
    const directive = this.find(verb);
    return directive === undefined ? Infinity : numberOption(directive, 'after', 0);
  }

  ms(verb: string, fallback: number): number {
    const directive = this.find(verb);
    return directive === undefined ? 0 : numberOption(directive, 'ms', fallback);
  }

  /** The failure that was asked for, in the words of the format. */
  refusal(format: Format): Refusal {
    return scriptedRefusal(format, this.find('fail')?.rest.trim().split(/\s/)[0] ?? '');
  }

  get retryAfterMs(): string | undefined {
    return this.find('fail')?.options.get('retry_after_ms');
  }

  private find(verb: string): Directive | undefined {
    return this.active.find((directive) => directive.verb === verb);
  }
}

/** Answers over the wire, as the directives want it. */
export async function speak(response: ServerResponse, spoken: Spoken, conduct: Conduct): Promise<void> {
  const { format, stream } = spoken.heard;
  const requestId = requestIdOf(spoken.sha256);
  const left = new AbortController();
  response.once('close', () => left.abort());
  const pause = (ms: number): Promise<unknown> => wait(ms, undefined, { signal: left.signal });
  const [cutAfter, stallAfter, failAfter] = [conduct.after('cut'), conduct.after('stall'), conduct.after('fail')];

  if (stallAfter === 0) await pause(conduct.ms('stall', 1000));
  if (failAfter === 0) return refuse(response, format, conduct.refusal(format), requestId, conduct.retryAfterMs);
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' });
    return void response.end(format === 'openai' ? chatWhole(spoken) : messageWhole(spoken));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  response.flushHeaders();
  const slow = conduct.ms('slow', 20);
  const events = format === 'openai' ? chatChunks(spoken) : messageEvents(spoken);
  for (const [index, event] of events.entries()) {
    if (left.signal.aborted) return;
    // What was written still leaves.
    if (index === cutAfter) return void response.socket?.destroySoon();
    if (index === stallAfter && index > 0) await pause(conduct.ms('stall', 1000));
    if (index === failAfter) {
      const error = printRefusal(format, conduct.refusal(format), requestId);
      return void response.end(format === 'openai' ? `data: ${error}\n\n` : `event: error\ndata: ${error}\n\n`);
    }
    if (slow > 0) await pause(slow);
    if (!response.write(event)) await once(response, 'drain', { signal: left.signal });
  }
  response.end();
}

export function requestIdOf(sha256: string): string {
  return `req_${sha256.slice(0, 24)}`;
}

export function refuse(
  response: ServerResponse,
  format: Format,
  refusal: Refusal,
  requestId: string,
  retryAfterMs?: string,
): void {
  if (retryAfterMs !== undefined) response.setHeader('retry-after-ms', retryAfterMs);
  response.writeHead(refusal.status, { 'content-type': 'application/json' });
  response.end(printRefusal(format, refusal, requestId));
}
