import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ToolServer {
  readonly url: string;
  /** How often each call had its effect, by idempotency key, for the tools that write. */
  readonly effects: ReadonlyMap<string, number>;
  /** The same for the tool that only reads, which may run again. */
  readonly reads: ReadonlyMap<string, number>;
  /** Calls that it works on at this moment. */
  readonly running: number;
  close(): Promise<void>;
}

/**
 * HTTP tools that live outside of what is killed: they have their effect when the request arrives, and answer after the `ms` of the arguments,
 * where somebody still waits for it.
 */
export async function startToolServer(): Promise<ToolServer> {
  const counts = { write: new Map<string, number>(), read: new Map<string, number>() };
  let running = 0;
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    const left = new AbortController();
    response.once('close', () => left.abort());
    void (async () => {
      running += 1;
      try {
        const key = request.headers['idempotency-key'] as string;
        const { arguments: given } = JSON.parse(await text(request)) as {
          arguments: { ms?: number; n?: number; bytes?: number };
        };
        const counted = request.url === '/look' ? counts.read : counts.write;
        counted.set(key, (counted.get(key) ?? 0) + 1);
        await sleep(given.ms ?? 0, undefined, { signal: left.signal });
        response.end(`${request.url?.slice(1)} ${given.n ?? 0}: done${filling(given.bytes ?? 0)}`);
      } catch {
        response.destroy();
      } finally {
        running -= 1;
      }
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    effects: counts.write,
    reads: counts.read,
    get running() {
      return running;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Lines that hardly compress, each another. */
function filling(bytes: number): string {
  let text = '';
  for (let line = 0; text.length < bytes; line += 1)
    text += `\n${line}: ${createHash('sha256').update(String(line)).digest('base64')}`;
  return text;
}

const whole = { type: 'integer' };
const schema = { type: 'object', properties: { ms: whole, n: whole, bytes: whole } };

/** The operator's file: `look` only reads, `book` writes, `pay` writes and waits for a person. */
export function toolsFile(url: string): string {
  const tool = (name: string, effect: 'read' | 'write', approval: boolean) => ({
    ...{ name, effect, approval, description: `To ${name} something.`, inputSchema: schema },
    ...{ url: `${url}/${name}`, allowPrivate: true, timeoutMs: 10_000 },
  });
  return JSON.stringify({
    http: [tool('look', 'read', false), tool('book', 'write', false), tool('pay', 'write', true)],
  });
}
