import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpTool, type HttpToolConfig, type HttpToolOptions } from './http-tool';
import type { Lookup } from './resolve';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});

interface Heard {
  readonly request: IncomingMessage;
  readonly body: string;
}

/** A server on loopback; `heard` is what it was asked. */
async function serve(answer: RequestListener): Promise<{ url: string; port: number; heard: Heard[] }> {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      heard.push({ request, body: Buffer.concat(chunks).toString() });
      answer(request, response);
    });
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/book`, port, heard };
}

const tool = (config: Partial<HttpToolConfig> & { url: string }, options: HttpToolOptions = {}) =>
  createHttpTool(
    {
      name: 'book',
      description: 'Books a room.',
      inputSchema: { type: 'object' },
      effect: 'read',
      approval: false,
      timeoutMs: 20_000,
      allowPrivate: true,
      ...config,
    },
    options,
  );

const run = (raw = '{}', signal = new AbortController().signal) => ({
  toolCallId: 'turn-1-0',
  runId: 'turn-1-0/carrier',
  tenantId: 'tenant',
  conversationId: 'conversation',
  arguments: raw,
  results: { inputCap: 1000, folded: () => Promise.resolve(undefined) },
  signal,
});

const loopback: Lookup = async () => [{ address: '127.0.0.1', family: 4 }];

describe('an HTTP tool', () => {
  it('posts the raw arguments under the id of the tool call', async () => {
    const { url, heard } = await serve((_, response) => response.end('Room 12 😀\0'));
    const raw = ' {"2":1, "1":12345678901234567890,\n "a":"\\u0000"} ';
    expect(await tool({ url }).run(run(raw))).toEqual({ text: 'Room 12 😀\0', isError: false });
    expect(heard[0]?.body).toBe(`{"toolCallId":"turn-1-0","arguments":${raw}}`);
    expect(heard[0]?.request).toMatchObject({
      method: 'POST',
      url: '/book',
      headers: { 'idempotency-key': 'turn-1-0', 'content-type': 'application/json', 'accept-encoding': 'identity' },
    });
  });

  it('posts an empty object where the model sent no arguments', async () => {
    const { url, heard } = await serve((_, response) => response.end());
    expect(await tool({ url }).run(run(''))).toEqual({ text: '', isError: false });
    expect(heard[0]?.body).toBe('{"toolCallId":"turn-1-0","arguments":{}}');
  });

  it('signs the time and the body, and never shows the secret', async () => {
    const { url, heard } = await serve((_, response) => response.end());
    const now = () => new Date('2026-06-15T00:00:00.900Z');
    const signed = tool({ url, secret: 'hush' }, { now });
    await signed.run(run('{"a":1}'));
    const signature = createHmac('sha256', 'hush').update(`1781481600.${heard[0]?.body}`).digest('hex');
    expect(heard[0]?.request.headers).toMatchObject({
      'palimpsest-timestamp': '1781481600',
      'palimpsest-signature': `sha256=${signature}`,
    });
    expect(JSON.stringify([signed.definition, heard[0]?.request.headers, heard[0]?.body])).not.toContain('hush');
  });

  it('gives what is not 2xx as an error with its status and the start of its body', async () => {
    const { url } = await serve((_, response) => response.writeHead(503).end('x'.repeat(100_000)));
    const result = await tool({ url }).run(run());
    expect(result).toEqual({ text: `The tool answered 503: ${'x'.repeat(4_096)}...`, isError: true });
    const { url: bare } = await serve((_, response) => response.writeHead(404).end());
    expect(await tool({ url: bare }).run(run())).toEqual({ text: 'The tool answered 404.', isError: true });
  });

  it.each([301, 302, 303, 307, 308])('follows no redirect: %d', async (status) => {
    const inside = await serve((_, response) => response.end('secret'));
    const { url } = await serve((_, response) => response.writeHead(status, { location: inside.url }).end());
    const result = await tool({ url }).run(run());
    expect(result).toEqual({
      text: `The tool answered ${status}, a redirect; redirects are not followed.`,
      isError: true,
    });
    expect(inside.heard).toEqual([]);
  });

  it('says so where an answer is too large, and stops reading', async () => {
    let sent = 0;
    const { url } = await serve((_, response) => {
      const write = (): void => {
        while (sent < 50_000_000 && response.write('x'.repeat(10_000))) sent += 10_000;
      };
      response.on('drain', write);
      write();
    });
    const limited = tool({ url }, { maxToolResultBytes: 100_000 });
    expect(await limited.run(run())).toEqual({
      text: "The tool's answer is larger than 100000 bytes. It was not kept. Ask for less.",
      isError: true,
    });
    expect(sent).toBeLessThan(50_000_000);
    const { url: exact } = await serve((_, response) => response.end('x'.repeat(100_000)));
    expect(await tool({ url: exact }, { maxToolResultBytes: 100_000 }).run(run())).toMatchObject({ isError: false });
  });

  it('takes no compressed answer', async () => {
    const { url } = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('bomb'));
    expect(await tool({ url }).run(run())).toMatchObject({ isError: true, text: expect.stringContaining('encoding') });
  });

  it('ends after its time, before the answer and within it, and leaves the outcome of a write open', async () => {
    const silent = await serve(() => undefined);
    expect(await tool({ url: silent.url, timeoutMs: 100, effect: 'write' }).run(run())).toEqual({
      text: 'The tool gave no answer within 100 ms. Whether it had its effect is not known.',
      isError: true,
    });
    const dripping = await serve((_, response) => {
      const drip = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(drip));
    });
    const result = await tool({ url: dripping.url, timeoutMs: 200 }).run(run());
    expect(result).toEqual({ text: 'The tool gave no answer within 200 ms.', isError: true });
  });

  it('ends after its time where the name service does not answer', async () => {
    const result = await tool(
      { url: 'http://example.com/', timeoutMs: 100 },
      { lookup: () => new Promise(() => undefined) },
    ).run(run());
    expect(result.text).toBe('The tool gave no answer within 100 ms.');
  });

  it('ends when its run is aborted, and closes the connection', async () => {
    let closed: Promise<unknown> | undefined;
    const abort = new AbortController();
    const { url } = await serve((request) => {
      closed = new Promise((done) => request.socket.once('close', done));
      abort.abort();
    });
    expect(await tool({ url, effect: 'write' }).run(run('{}', abort.signal))).toEqual({
      text: 'The call was cancelled. Whether it had its effect is not known.',
      isError: true,
    });
    await closed;
    expect(await tool({ url }).run(run('{}', AbortSignal.abort()))).toMatchObject({ isError: true });
  });

  it('tells a tool that was not reached from one that broke off, and names no address', async () => {
    const { url, port } = await serve((request) => request.socket.destroy());
    const broken = await tool({ url, effect: 'write' }).run(run());
    expect(broken.text).toBe('The connection to the tool broke. Whether it had its effect is not known.');
    const cut = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => response.destroy());
    });
    expect((await tool({ url: cut.url }).run(run())).text).toBe('The connection to the tool broke.');
    servers.forEach((server) => server.close());
    const gone = await tool({ url: `http://127.0.0.1:1/`, effect: 'write' }).run(run());
    expect(gone.text).toBe('The tool cannot be reached. It was not called.');
    expect(JSON.stringify([broken, gone])).not.toContain(String(port));
  });
});

describe('the address of an HTTP tool', () => {
  it.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
  ])('is refused where it leads inside: %s', async (url) => {
    const result = await tool({ url, allowPrivate: false }).run(run());
    expect(result).toEqual({ text: expect.stringContaining('not on the public internet'), isError: true });
  });

  it('is refused where one of the addresses of a name leads inside', async () => {
    const { port, heard } = await serve((_, response) => response.end());
    const lookup: Lookup = async () => [
      { address: '93.184.216.34', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    const result = await tool({ url: `http://tools.example:${port}/`, allowPrivate: false }, { lookup }).run(run());
    expect(result.text).toContain('not on the public internet');
    expect(heard).toEqual([]);
  });

  it('is the one that was checked, though the next answer of the name service is another', async () => {
    const { port, heard } = await serve((_, response) => response.end('the checked one'));
    let asked = 0;
    const lookup: Lookup = async () => {
      asked += 1;
      return [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    };
    // `.invalid` has no address: had the name been looked up again on the way, the call would fail.
    const result = await tool({ url: `http://tools.invalid:${port}/` }, { lookup }).run(run());
    expect(result).toEqual({ text: 'the checked one', isError: false });
    expect(asked).toBe(1);
    expect(heard[0]?.request.headers.host).toBe(`tools.invalid:${port}`);
  });

  it('is tried in each family that the name has', async () => {
    const { port } = await serve((_, response) => response.end('reached'));
    const lookup: Lookup = async () => [{ address: '::1', family: 6 }, ...(await loopback(''))];
    const result = await tool({ url: `http://tools.invalid:${port}/` }, { lookup }).run(run());
    expect(result).toEqual({ text: 'reached', isError: false });
  });

  it('is refused where there is none', async () => {
    const nowhere = tool({ url: 'http://tools.invalid/' }, { lookup: async () => [] });
    expect(await nowhere.run(run())).toMatchObject({ isError: true, text: expect.stringContaining('no address') });
    const unknown = tool(
      { url: 'http://tools.invalid/' },
      { lookup: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })) },
    );
    expect(await unknown.run(run())).toEqual({
      text: "The tool's host name is not known. It was not called.",
      isError: true,
    });
  });
});
