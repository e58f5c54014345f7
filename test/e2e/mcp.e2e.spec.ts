import { isRunning, Journal, type McpHttpServer, startMcpHttpServer, stdioCommand } from '@palimpsest/tools/testing';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryFolder } from '../support/child';
import { type Client, until } from '../support/client';
import { requested } from '../support/client-requests';
import { Deployment, type InnerProcess } from '../support/installation';

const example = (name: string) => require.resolve(`@modelcontextprotocol/sdk/examples/server/${name}.js`);
const folder = temporaryFolder();
const journal = new Journal();
const secrets = { TEST_MCP_TOKEN: 'Bearer hush-hush', TEST_MCP_JOURNAL: journal.path };
let lamp: McpHttpServer;
let greeter: ChildProcess;
let deployment: Deployment;
let process1: InnerProcess;
let api: Client;

/** An example of the SDK's own, over HTTP. */
async function startGreeter(): Promise<string> {
  const args = ['-r', join(__dirname, '..', 'support', 'loopback.cjs'), example('simpleStreamableHttp')];
  greeter = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  if (!greeter.stdout) throw new Error('No output.');
  for await (const line of createInterface({ input: greeter.stdout })) {
    const [, port] = /^bound to (\d+)$/.exec(line) ?? [];
    if (port) return `http://127.0.0.1:${port}/mcp`;
  }
  throw new Error('The example did not start.');
}

beforeAll(async () => {
  lamp = await startMcpHttpServer();
  Object.assign(process.env, secrets);
  const mcp = [
    { name: 'weather', command: process.execPath, args: [example('mcpServerOutputSchema')], trustAnnotations: true },
    { name: 'greeter', url: await startGreeter(), allowPrivate: true, tools: { greet: { effect: 'read' } } },
    {
      ...{ name: 'desk', ...stdioCommand, env: { JOURNAL: 'env:TEST_MCP_JOURNAL', TOKEN: 'env:TEST_MCP_TOKEN' } },
      tools: { add: { effect: 'read' }, picture: { effect: 'read' }, dies: { approval: false } },
    },
    {
      ...{ name: 'lamp', url: lamp.url, headers: { authorization: 'env:TEST_MCP_TOKEN' }, allowPrivate: true },
      tools: { add: { effect: 'read' } },
    },
    { name: 'gone', command: 'no-such-program-4711' },
  ];
  const file = join(folder.path, 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcp }));
  deployment = await Deployment.open({ PALIMPSEST_TOOLS_FILE: file, ...secrets });
  process1 = await deployment.start();
  api = await deployment.client(process1);
});
afterAll(async () => {
  await deployment.close();
  await lamp.close();
  greeter.kill();
  await once(greeter, 'exit');
  journal.remove();
  folder.remove();
  for (const name of Object.keys(secrets)) delete process.env[name];
});

const mcpTools = (...names: string[]) => names.map((name) => ({ type: 'mcp', name }) as const);
const talk = (...names: string[]) => api.conversation([], { tools: mcpTools(...names) });

describe('an assistant with tools of MCP servers', () => {
  it.each(['desk', 'lamp'])(
    'reads unasked, and writes once a person approved, exactly what was approved: %s',
    async (name) => {
      const conversationId = await talk(`${name}.add`, `${name}.note`);
      const raw = '{"amount": 12345678901234567890, "2": "b", "1": "a"}';
      const turn = await api.ask(
        conversationId,
        `[[sim: call ${name}__add {"a":1,"b":2}]] [[sim: call ${name}__note ${raw}]] [[sim: echo]]`,
      );
      expect(turn.status).toBe('awaiting_approval');
      const runs = () => (name === 'desk' ? journal.runs : lamp.runs).filter((run) => run.tool === 'note');
      const before = runs().length;
      const { items } = await api.approvals(`?minPosition=${turn.position}`);
      expect(items).toMatchObject([{ conversationId, tool: `${name}__note`, effect: 'write', arguments: raw }]);

      const [item] = items;
      const done = await api.decide(conversationId, item?.toolCallId ?? '', 'approve', item?.argumentsDigest ?? '');
      expect(done).toMatchObject({ status: 'completed', answer: expect.stringMatching(/^3\nnoted /) });
      expect(runs().slice(before)).toMatchObject([{ toolCallId: item?.toolCallId }]);
      const sent = name === 'desk' ? journal.received : lamp.requests.map(({ body }) => body).join();
      expect(sent).toContain(`"arguments":${raw}`);
      expect((await api.replay(done.nodes[1] ?? '')).verified).toBe(true);
    },
  );

  it('has those of the SDK’s own example servers, over standard input and output and over HTTP', async () => {
    const conversationId = await talk('weather.get_weather', 'greeter.greet', 'greeter.multi-greet');
    const weather = '[[sim: call weather__get_weather {"city":"Seoul","country":"KR"}]]';
    const turn = await api.ask(conversationId, `[[sim: call greeter__greet {"name":"Ada"}]] ${weather} [[sim: echo]]`);
    expect(turn.status).toBe('awaiting_approval');
    const [item] = (await api.approvals(`?minPosition=${turn.position}`)).items;
    expect(item?.tool).toBe('weather__get_weather');
    const done = await api.decide(conversationId, item?.toolCallId ?? '', 'approve', item?.argumentsDigest ?? '');
    expect(done).toMatchObject({ status: 'completed', answer: expect.stringMatching(/^Hello, Ada!\n\{[^]*celsius/) });
  });

  it('tells the model why, where the arguments do not fit, and asks nobody', async () => {
    const conversationId = await talk('desk.add');
    const turn = await api.ask(conversationId, '[[sim: call desk__add {"a":"one"}]] [[sim: say so]]');
    expect(turn).toMatchObject({ status: 'completed', answer: 'so' });
    expect((await api.node(turn.nodes[1] ?? '')).sent).toMatchObject([{ type: 'tool_result', synthetic: 'invalid' }]);
  });

  it('shows a picture to the person, and to no model', async () => {
    const conversationId = await talk('desk.picture');
    const turn = await api.ask(conversationId, '[[sim: call desk__picture {}]] [[sim: say here it is]]');
    expect(turn).toMatchObject({ status: 'completed' });
    const { body } = await api.replay(turn.nodes[1] ?? '');
    expect(requested(body).results[0]?.text).toMatch(/^Sales by month\n\[image, image\/png: shown to the person/);
    expect(body).not.toMatch(/aGVsbG8=|for the eyes of a person/);
    const { bubbles } = await api.transcript(conversationId, turn.revision);
    expect(JSON.stringify(bubbles.at(-1)?.display)).toMatch(/aGVsbG8=[^]*for the eyes of a person/);
  });

  it('that dies over a write is not asked again: the model reads that the outcome is not known', async () => {
    const conversationId = await talk('desk.dies', 'desk.add');
    const turn = await api.ask(conversationId, '[[sim: call desk__dies {}]] [[sim: echo]]');
    expect(turn).toMatchObject({ status: 'completed', answer: expect.stringMatching(/effect is not known/) });
    expect(journal.runs.filter((run) => run.toolCallId === `${turn.turnId}-1-0`)).toHaveLength(1);
    const next = await api.ask(conversationId, '[[sim: call desk__add {"a":2,"b":2}]] [[sim: echo]]');
    expect(next).toMatchObject({ status: 'completed', answer: '4' });
  });

  it('keeps its definitions: a tool that is new is one of the next version', async () => {
    await expect(api.assistant({ tools: mcpTools('lamp.grown') })).rejects.toMatchObject({ status: 400 });
    const { assistantId } = await api.assistant({ tools: mcpTools('lamp.grows') });
    const { conversationId } = await api.start({ assistantId });
    const turn = await api.ask(conversationId, '[[sim: call lamp__grows {}]] [[sim: echo]]');
    const [item] = (await api.approvals(`?minPosition=${turn.position}`)).items;
    await api.decide(conversationId, item?.toolCallId ?? '', 'approve', item?.argumentsDigest ?? '');

    let version = 1;
    await until(async () => {
      const tools = mcpTools('lamp.grows', 'lamp.grown');
      const made = await api.assistant({ assistantId, tools }).catch(() => undefined);
      version = made?.version ?? 1;
      return made !== undefined;
    });
    const calling = '[[sim: call lamp__grown {}]] [[sim: echo]]';
    expect(await api.ask(conversationId, calling)).toMatchObject({
      answer: expect.stringContaining('There is no tool named "lamp__grown"'),
    });
    const newer = await api.ask(conversationId, calling, { assistantVersion: version });
    expect(newer.status).toBe('awaiting_approval');
    await api.cancel(conversationId, newer.turnId);
  });

  it('is not made with a server that can’t be reached, or with one that nobody named', async () => {
    const refusal = async (name: string) =>
      api.assistant({ tools: mcpTools(name) }).then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(await refusal('gone.add')).toMatchObject({ status: 503, code: 'tool_unavailable' });
    expect(await refusal('desk.nothing')).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(await refusal('unknown.add')).toMatchObject({ status: 400, code: 'validation_failed' });
  });

  it('goes on where a server is gone: the model reads that nothing was run', async () => {
    const server = await startMcpHttpServer();
    const file = join(folder.path, 'going.json');
    const mcp = [{ name: 'going', url: server.url, allowPrivate: true, tools: { add: { effect: 'read' } } }];
    writeFileSync(file, JSON.stringify({ mcp }));
    const own = await deployment.start({ PALIMPSEST_TOOLS_FILE: file });
    const client = await deployment.client(own);
    const conversationId = await client.conversation([], { tools: mcpTools('going.add') });
    await server.close();
    const turn = await client.ask(conversationId, '[[sim: call going__add {"a":1,"b":1}]] [[sim: echo]]');
    expect(turn).toMatchObject({ status: 'completed', answer: expect.stringMatching(/not called|nothing was run/) });
  });

  it('says nothing in the log of what its servers got, answered or wrote to standard error', async () => {
    expect(lamp.requests.at(-1)?.headers.authorization).toBe('Bearer hush-hush');
    expect(process1.log.join()).toContain('MCP server connected');
    expect(process1.log.join()).not.toMatch(/hush|a secret on standard error|Welcome!|noted|12345678901234567890/);
  });
});

describe('the processes of MCP servers', () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)('end with the program that started them: %s', async (signal) => {
    const own = await deployment.spawn();
    const client = await deployment.client(own);
    const before = journal.pids.length;
    await client.assistant({ tools: mcpTools('desk.add') });
    const [pid = 0] = journal.pids.slice(before);
    expect(isRunning(pid)).toBe(true);
    await own.kill(signal);
    await until(() => !isRunning(pid));
  });
});
