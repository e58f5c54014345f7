import { readFileSync } from 'node:fs';
import { isRunning, Journal, type McpHttpServer, startMcpHttpServer, stdioCommand } from '../../testing';
import type { Tool, ToolResult } from '../port';
import type { McpOptions } from './connection';
import type { HttpServer, McpServer, StdioServer } from './mcp.config';
import { createMcpTools, type McpTools } from './mcp-tools';

const common = { timeoutMs: 20_000, connectTimeoutMs: 20_000, trustAnnotations: false, tools: {} };
const opened: McpTools[] = [];
let journal: Journal;
let http: McpHttpServer;

beforeAll(async () => {
  http = await startMcpHttpServer();
});
beforeEach(() => {
  journal = new Journal();
  http.answer(undefined);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((tools) => tools.close()));
  journal.remove();
});
afterAll(() => http.close());

const overStdio = (more: Partial<StdioServer> = {}): StdioServer => ({
  ...{ ...common, ...stdioCommand, name: 'desk' },
  env: { JOURNAL: journal.path },
  ...more,
});
const overHttp = (more: Partial<HttpServer> = {}): HttpServer => ({
  ...{ ...common, name: 'desk', url: http.url, headers: {}, allowPrivate: true },
  ...more,
});

function open(server: McpServer, options: McpOptions = {}): McpTools {
  const tools = createMcpTools([server], options);
  opened.push(tools);
  return tools;
}

async function found(tools: McpTools, name: string): Promise<Tool> {
  const tool = await tools.find(name);
  if (!tool) throw new Error(`There is no ${name}.`);
  return tool;
}

const run = (tool: Tool, raw = '{}', signal = new AbortController().signal): Promise<ToolResult> =>
  tool.run({
    ...{ toolCallId: 'turn-1-0', runId: 'turn-1-0/carrier', tenantId: 't', conversationId: 'c' },
    ...{ arguments: raw, signal, results: { inputCap: 1000, folded: () => Promise.resolve(undefined) } },
  });

const call = async (tools: McpTools, name: string, raw?: string): Promise<ToolResult> =>
  run(await found(tools, `desk.${name}`), raw);

async function until(holds: () => boolean, withinMs = 10_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`It did not come about within ${withinMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe.each(['stdio', 'http'] as const)('tools of an MCP server over %s', (way) => {
  const server = (more: object = {}) => (way === 'stdio' ? overStdio(more) : overHttp(more));
  const received = () => (way === 'stdio' ? journal.received : http.requests.map(({ body }) => body).join('\n'));

  it('are found by the name of the server and theirs, as both an operator and a model write it', async () => {
    const tools = open(server());
    const add = await found(tools, 'desk.add');
    expect(add.definition).toMatchObject({
      ...{ type: 'mcp', name: 'desk__add', description: 'Adds two numbers', effect: 'write', approval: true },
      inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a', 'b'] },
    });
    expect((await found(tools, 'desk__add')).definition).toEqual(add.definition);
    const { name } = (await found(tools, 'desk.dotted.name')).definition;
    expect(name).toMatch(/^desk__dotted_name_[0-9a-f]{8}$/);
    expect(await run(await found(tools, name))).toEqual({ text: 'dotted', isError: false });
    for (const other of ['desk.nothing', 'desk', 'lamp.add', 'desk.', '__proto__.add'])
      expect(await tools.find(other)).toBeUndefined();
  });

  it('write and wait for approval, unless the operator says or believes otherwise', async () => {
    const choices = { note: { approval: false }, fails: { effect: 'read' }, add: { approval: true } } as const;
    const tools = open(server({ trustAnnotations: true, tools: choices }));
    const [note, fails, add, slow] = await Promise.all(
      ['note', 'fails', 'add', 'slow'].map((name) => found(tools, `desk.${name}`)),
    );
    expect(note?.definition).toMatchObject({ effect: 'write', approval: false });
    expect(fails?.definition).toMatchObject({ effect: 'read', approval: false });
    expect(add?.definition).toMatchObject({ effect: 'read', approval: true });
    expect(slow?.definition).toMatchObject({ effect: 'write', approval: true });
    expect((await found(open(server({ trustAnnotations: true })), 'desk.add')).definition).toMatchObject({
      ...{ effect: 'read', approval: false },
    });
  });

  it('get the model’s arguments byte for byte, with the id of the call', async () => {
    const tools = open(server());
    const raw = '{"2": "b","1": 12345678901234567890, "u":\r\n "\\u00e9 $& \\n"}';
    expect(await call(tools, 'note', raw)).toMatchObject({ isError: false });
    expect(received()).toContain(`"arguments":${raw.replace('\r\n', '  ')}`);
    expect(await call(tools, 'note', '')).toEqual({ text: 'noted {}', isError: false });
    const runs = way === 'stdio' ? journal.runs : http.runs;
    expect(runs.at(-1)).toMatchObject({ tool: 'note', toolCallId: 'turn-1-0' });
  });

  it('answer with text for the model, and with what only a person can or should see beside it', async () => {
    const tools = open(server());
    expect(await call(tools, 'add', '{"a":1,"b":2}')).toEqual({ text: '3', isError: false });
    expect(await call(tools, 'structured')).toEqual({ text: '{"total":3}', isError: false });
    const picture = await call(tools, 'picture');
    expect(picture.text.split('\n')).toEqual([
      'Sales by month',
      '[image, image/png: shown to the person, not readable here]',
      'the file',
      '[resource b file:///b.txt]',
    ]);
    expect(picture.display).toMatchObject({
      type: 'mcp',
      content: [
        { type: 'image', data: 'aGVsbG8=' },
        { type: 'text', text: 'for the eyes of a person' },
      ],
    });
  });

  it('fail with their own words, and so does a call that the server refuses', async () => {
    const tools = open(server());
    expect(await call(tools, 'fails')).toEqual({ text: 'out of paper', isError: true });
    const refused = await call(tools, 'add', '{"a":"one"}');
    expect(refused).toMatchObject({ isError: true, text: expect.stringMatching(/Invalid arguments|invalid/i) });
  });

  it('end after their time and when they are cancelled, and leave the outcome of a write open', async () => {
    const tools = open(server({ timeoutMs: 300 }));
    expect(await call(tools, 'slow', '{"ms":5000}')).toEqual({
      text: 'The tool gave no answer within 300 ms. Whether it had its effect is not known.',
      isError: true,
    });
    const abort = new AbortController();
    const cancelled = run(await found(tools, 'desk.slow'), '{"ms":5000}', abort.signal);
    setTimeout(() => abort.abort(), 100);
    expect(await cancelled).toMatchObject({ text: expect.stringMatching(/^The call was cancelled/), isError: true });
    // A machine that stands still for those 300 ms has no answer in time either: what is asked then is asked again.
    let sum: ToolResult;
    do sum = await call(tools, 'add', '{"a":1,"b":1}');
    while (sum.text.includes('no answer within 300 ms'));
    expect(sum).toMatchObject({ text: '2' });
  });

  it('say so where an answer is too large, and go on', async () => {
    const tools = open(server(), { maxToolResultBytes: 100_000 });
    const tooLarge = { text: expect.stringContaining('larger than 100000 bytes'), isError: true };
    expect(await call(tools, 'large', '{"bytes":100001}')).toEqual(tooLarge);
    expect(await call(tools, 'large', '{"bytes":100000}')).toMatchObject({ isError: false });
    expect(await call(tools, 'large', '{"bytes":9000000}')).toMatchObject(tooLarge);
    expect(await call(tools, 'add', '{"a":1,"b":1}')).toMatchObject({ text: '2' });
  });

  it('are listed anew when the server says that they changed', async () => {
    const tools = open(server());
    expect(await tools.find('desk.grown')).toBeUndefined();
    await call(tools, 'grows');
    let grown: Tool | undefined;
    for (let tries = 0; tries < 500 && !grown; tries += 1) {
      grown = await tools.find('desk.grown');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(grown?.definition.name).toBe('desk__grown');
  });

  it('run side by side over one connection', async () => {
    const tools = open(server());
    const slow = call(tools, 'slow', '{"ms":400}');
    const sums = Array.from({ length: 20 }, (_, n) => call(tools, 'add', `{"a":${n},"b":1}`));
    expect((await Promise.all(sums)).map(({ text }) => text)).toEqual(sums.map((_, n) => String(n + 1)));
    expect(await slow).toEqual({ text: 'at last', isError: false });
    if (way === 'stdio') expect(journal.pids).toHaveLength(1);
  });
});

describe('an MCP server that is a process', () => {
  it('is started when its first tool is wanted, and ends with the last', async () => {
    const tools = open(overStdio());
    expect(journal.pids).toEqual([]);
    await tools.find('desk.add');
    const [pid = 0] = journal.pids;
    expect(isRunning(pid)).toBe(true);
    await tools.close();
    expect(isRunning(pid)).toBe(false);
    await expect(tools.find('desk.add')).rejects.toThrow('is being left');
  });

  it('ends with all that it started, however stubborn', async () => {
    const tools = open(overStdio({ env: { JOURNAL: journal.path, STUBBORN: 'yes' } }));
    const grandchild = Number((await call(tools, 'breeds')).text);
    const [pid = 0] = journal.pids;
    expect([isRunning(pid), isRunning(grandchild)]).toEqual([true, true]);
    await tools.close();
    await until(() => !isRunning(pid) && !isRunning(grandchild));
  });

  it('leaves nobody behind where it dies, and is started again for the next call', async () => {
    const changes: string[] = [];
    const tools = open(overStdio(), { onChange: (_server, state) => changes.push(state) });
    const grandchild = Number((await call(tools, 'breeds')).text);
    expect(await call(tools, 'dies')).toEqual({
      text: 'The connection to the tool broke. Whether it had its effect is not known.',
      isError: true,
    });
    expect(await call(tools, 'add', '{"a":1,"b":1}')).toMatchObject({ text: '2' });
    expect(journal.pids).toHaveLength(2);
    expect(changes).toEqual(['connected', 'lost', 'connected']);
    await until(() => !isRunning(grandchild));
  });

  it('gets its own variables and the usual few, and nothing else of ours', async () => {
    process.env['PALIMPSEST_TEST_SECRET'] = 'hush';
    await call(open(overStdio({ env: { JOURNAL: journal.path, TOKEN: 't' } })), 'note');
    delete process.env['PALIMPSEST_TEST_SECRET'];
    const { env = {} } = journal.entries[0] ?? {};
    expect(env).toMatchObject({ TOKEN: 't', PATH: process.env['PATH'] });
    expect(JSON.stringify(env)).not.toContain('hush');
  });

  it('is tried again after a pause that grows, and what stands in between fails at once', async () => {
    const changes: string[] = [];
    const tools = open(overStdio({ command: 'no-such-program-4711' }), {
      firstPauseMs: 200,
      onChange: (_server, state, why) => changes.push(`${state} ${why}`),
    });
    // Asked all the time. When it was tried, from before to after: the pause lies between.
    const tries: { from: number; to: number }[] = [];
    for (; tries.length < 3; await new Promise((resolve) => setTimeout(resolve, 10))) {
      const from = performance.now();
      const refusal = await tools.find('desk.add').catch((error: Error) => error.message);
      const isTried = changes.length > tries.length;
      expect(refusal).toBe(`The MCP server "desk" cannot be reached${isTried ? ' (ENOENT)' : ' now'}.`);
      if (isTried) tries.push({ from, to: performance.now() });
    }
    expect(changes).toEqual(Array(3).fill('unreachable ENOENT'));
    const [first, second, third] = tries;
    expect(second!.to - first!.from).toBeGreaterThanOrEqual(200);
    expect(third!.to - second!.from).toBeGreaterThanOrEqual(400);
  });

  it('that never introduces itself is given up after its time, with its process', async () => {
    // A shell has said who it is long before that time, on a slow machine too.
    const args = ['-c', 'echo $$ > "$0"; exec sleep 1000', `${journal.path}.pid`];
    const mute = overStdio({ command: '/bin/sh', args, connectTimeoutMs: 1_000 });
    await expect(open(mute).find('desk.add')).rejects.toThrow('no answer in time');
    expect(isRunning(Number(readFileSync(`${journal.path}.pid`, 'utf8')))).toBe(false);
  });

  it('that hangs is started anew after three calls that nobody answered', async () => {
    const tools = open(overStdio({ timeoutMs: 200 }));
    for (let calls = 0; calls < 3; calls += 1) await call(tools, 'slow', '{"ms":60000}');
    await tools.find('desk.add');
    expect(journal.pids).toHaveLength(2);
    await until(() => !isRunning(journal.pids[0] ?? 0));
  });
});

describe('an MCP server over HTTP', () => {
  it('gets the headers that the operator named', async () => {
    await open(overHttp({ headers: { authorization: 'Bearer hush' } })).find('desk.add');
    expect(http.requests.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer hush',
      'accept-encoding': 'identity',
    });
  });

  it('that was started anew is met anew, and the call runs once', async () => {
    const tools = open(overHttp());
    await call(tools, 'note');
    const before = http.runs.length;
    await http.forget();
    expect(await call(tools, 'note', '{"n":2}')).toEqual({ text: 'noted {"n":2}', isError: false });
    expect(http.runs.length).toBe(before + 1);
  });

  it('whose session is over is told so', async () => {
    const tools = open(overHttp());
    await tools.find('desk.add');
    await tools.close();
    expect(http.requests.at(-1)?.method).toBe('DELETE');
  });

  it('may answer in plain JSON', async () => {
    const plain = await startMcpHttpServer({ json: true });
    try {
      const tools = open(overHttp({ url: plain.url }), { maxToolResultBytes: 1_000_000 });
      expect(await call(tools, 'add', '{"a":1,"b":2}')).toEqual({ text: '3', isError: false });
      expect(await call(tools, 'large', '{"bytes":9000000}')).toMatchObject({ isError: true, text: /larger/ as never });
    } finally {
      await plain.close();
    }
  });

  it.each([
    [302, { location: 'http://127.0.0.1:1/' }, 'redirects are not followed'],
    [401, {}, 'refused its credentials (401). It was not called'],
    [503, {}, "The tool's server answered 503. Whether it had its effect is not known."],
    [200, { 'content-encoding': 'gzip', 'content-type': 'application/json' }, 'unknown encoding'],
  ])('that answers %d is no answer of a tool', async (status, headers, words) => {
    const tools = open(overHttp());
    const tool = await found(tools, 'desk.note');
    http.answer((_request, response) => response.writeHead(status, headers as Record<string, string>).end('inside'));
    const result = await run(tool);
    expect(result).toMatchObject({ isError: true, text: expect.stringContaining(words) });
    expect(result.text).not.toContain('inside');
  });

  it.each(['text/event-stream', 'application/json'])(
    'that breaks off within %s does not keep its call waiting',
    async (type) => {
      const tools = open(overHttp());
      const tool = await found(tools, 'desk.note');
      for (const cut of [true, false]) {
        http.answer((request, response) => {
          if (request.method === 'GET') return void response.writeHead(405).end();
          response.writeHead(200, { 'content-type': type });
          response.write(type.includes('json') ? '{"jsonrpc"' : 'event: message\n', () =>
            cut ? response.destroy() : response.end(),
          );
        });
        const from = performance.now();
        expect(await run(tool)).toMatchObject({ isError: true, text: expect.stringContaining('is not known') });
        expect(performance.now() - from).toBeLessThan(5_000);
      }
    },
  );

  it('inside is not reached, unless the operator lets it be', async () => {
    const before = http.requests.length;
    for (const url of [http.url, http.url.replace('127.0.0.1', 'localhost')])
      await expect(open(overHttp({ url, allowPrivate: false })).find('desk.add')).rejects.toThrow('cannot be reached');
    expect(http.requests.length).toBe(before);
  });

  it('that is gone is not called, and no address is told', async () => {
    const going = await startMcpHttpServer();
    const tool = await found(open(overHttp({ url: going.url })), 'desk.note');
    await going.close();
    const result = await run(tool);
    expect(result).toEqual({ text: 'The tool cannot be reached. It was not called.', isError: true });
  });
});
