import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Remote } from './remote';

const MINUTE_MS = 60_000;

let server: Server;
let url: string;
afterEach(() => {
  jest.useRealTimers();
  server.close().closeAllConnections();
});

/** An installation that answers like this. */
async function serve(answer: RequestListener): Promise<void> {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const remote = (patienceMs = MINUTE_MS) => new Remote(url, 'key', new AbortController().signal, patienceMs);

async function document(onFirst = (): void => undefined): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of await remote().stream('/')) if (parts.push(part) === 1) onFirst();
  return Buffer.concat(parts).toString();
}

describe('an installation elsewhere', () => {
  it('may take longer for all of a document than until it begins', async () => {
    const real = ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'setInterval'] as const;
    jest.useFakeTimers({ doNotFake: [...real] });
    let end = (): void => undefined;
    await serve((_, response) => {
      response.write('[1,');
      end = () => void response.end('2]');
    });
    const whole = document(() => {
      jest.advanceTimersByTime(10 * MINUTE_MS);
      end();
    });
    expect(await whole).toBe('[1,2]');
  });

  it('is said to have broken off where it goes in the midst of an answer', async () => {
    await serve((_, response) => void response.write('[1,', () => response.destroy()));
    await expect(document()).rejects.toThrow(/^The answer of http:\S+ broke off: /);
    await expect(remote().json('GET', '/')).rejects.toThrow(/^The answer of http:\S+ broke off: /);
  });

  it('is said to be late where it says nothing, and not to run where nothing answers', async () => {
    await serve(() => undefined);
    const late = /^http:\S+ has not answered within 0.02 s/;
    await expect(remote(20).json('GET', '/')).rejects.toThrow(late);
    await expect(remote(20).stream('/')).rejects.toThrow(late);
    server.close().closeAllConnections();
    await once(server, 'close');
    await expect(remote().json('GET', '/')).rejects.toThrow(/^Nothing answers at http:\S+: \w+\. Is the/);
  });
});
