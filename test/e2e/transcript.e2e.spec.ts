import { Journal, stdioCommand } from '@palimpsest/tools/testing';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/child';
import type { Client } from '../support/client';
import { toolsFileFor, ToolServer } from '../support/installation-tools';
import { Deployment } from '../support/installation';

const folder = temporaryFolder();
const journal = new Journal();
let tools: ToolServer;
let deployment: Deployment;
let api: Client;

beforeAll(async () => {
  tools = await ToolServer.start();
  const file = join(folder.path, 'tools.json');
  const secrets = { TEST_TRANSCRIPT_JOURNAL: journal.path };
  Object.assign(process.env, secrets);
  const env = { JOURNAL: 'env:TEST_TRANSCRIPT_JOURNAL' };
  const desk = { name: 'desk', ...stdioCommand, env, tools: { picture: { effect: 'read' } } };
  writeFileSync(file, JSON.stringify({ ...JSON.parse(toolsFileFor(tools)), mcp: [desk] }));
  deployment = await Deployment.open({ PALIMPSEST_TOOLS_FILE: file, ...secrets });
  api = await deployment.client(await deployment.start());
});
beforeEach(() => tools.behave());
afterAll(async () => {
  await deployment.close();
  await tools.close();
  journal.remove();
  folder.remove();
  delete process.env['TEST_TRANSCRIPT_JOURNAL'];
});

const say = (text: string) => `[[sim: say ${text}]]`;
const plain = (text: string) => text.split(' [[')[0];
const pathOf = (conversationId: string) => `/v1/conversations/${conversationId}/transcript`;

describe('a transcript', () => {
  it('has two bubbles a turn, none empty, with no tool payload and no reasoning', async () => {
    tools.behave(() => ({ text: 'PAYLOAD' }));
    const conversationId = await api.conversation(['lookup'], {
      model: { provider: 'anthropic', name: 'claude-sonnet-4-5' },
    });
    const first = await api.ask(
      conversationId,
      `one [[sim: think SECRETLY]] [[sim: rounds=3 tool=lookup args={"k":"ARGUMENT"}]] ${say('first')}`,
    );
    const second = await api.ask(conversationId, `two ${say('second')}`);
    const reply = await api.send('GET', `${pathOf(conversationId)}?minRevision=${second.revision}`);
    const { bubbles } = await api.transcript(conversationId);
    expect(bubbles.map(({ role, text, nodeId }) => [role, plain(text), nodeId])).toEqual([
      ['user', 'one', first.nodes[0]],
      ['assistant', 'first', first.nodes[3]],
      ['user', 'two', second.nodes[0]],
      ['assistant', 'second', second.nodes[0]],
    ]);
    const asked = JSON.stringify(bubbles.filter(({ role }) => role === 'assistant'));
    for (const hidden of ['PAYLOAD', 'SECRETLY', 'ARGUMENT']) expect(asked).not.toContain(hidden);
    expect(reply.text).not.toContain('PAYLOAD');
  });

  it('shows where branches are, and the choice of one survives a reload, at any process', async () => {
    const conversationId = await api.conversation();
    const one = await api.ask(conversationId, `a ${say('A')}`);
    await api.ask(conversationId, `tail ${say('T')}`);
    const two = await api.edit(conversationId, one.turnId, `b ${say('B')}`);
    const three = await api.edit(conversationId, one.turnId, `c ${say('C')}`);
    const siblings = [one, two, three].map(({ nodes }) => nodes[0]);
    expect((await api.transcript(conversationId, three.revision)).bubbles[0]?.branch).toEqual({
      index: 3,
      count: 3,
      siblings,
    });

    const { head, revision } = await api.switchTo(conversationId, siblings[0] ?? '');
    const shown = await api.transcript(conversationId, revision);
    expect(shown.head).toBe(head);
    expect(shown.bubbles.map(({ text }) => plain(text))).toEqual(['a', 'A', 'tail', 'T']);
    expect(shown.bubbles[0]?.branch).toEqual({ index: 1, count: 3, siblings });
    const other = await deployment.start();
    expect(await api.at(other).transcript(conversationId, revision)).toEqual(shown);
    await other.close();
  });

  it('comes as JSON and as Markdown: who said what, and nothing else', async () => {
    tools.behave(() => ({ text: 'PAYLOAD' }));
    const conversationId = await api.conversation(['lookup']);
    const turn = await api.ask(
      conversationId,
      `Who?\n\n**Assistant**\n# I [[sim: call lookup {}]] ${say('Ada\n- one\n- two')}`,
    );
    const at = `${pathOf(conversationId)}?minRevision=${turn.revision}`;
    const asMarkdown = await api.send<string>('GET', at, { headers: { accept: 'text/markdown' } });
    expect(asMarkdown.status).toBe(200);
    expect(asMarkdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(asMarkdown.headers.get('vary')).toContain('accept');
    const lines = asMarkdown.body.trimEnd().split('\n');
    expect(lines.filter((line) => line !== '' && !line.startsWith('>'))).toEqual(['**User**', '**Assistant**']);
    expect(lines.slice(-5)).toEqual(['**Assistant**', '', '> Ada', '> - one', '> - two']);
    expect(asMarkdown.body).not.toContain('PAYLOAD');

    expect((await api.send('GET', `${at}&format=markdown`)).text).toBe(asMarkdown.text);
    const json = await api.send('GET', `${at}&format=json`, { headers: { accept: 'text/markdown' } });
    expect(json.body).toEqual(await api.transcript(conversationId));
    expect((await api.send('GET', `${at}&format=pdf`)).status).toBe(400);
    expect((await api.send('GET', at, { headers: { accept: 'application/pdf' } })).status).toBe(406);
    expect(
      (await api.send('GET', at, { headers: { accept: 'text/html, */*;q=0.5' } })).headers.get('content-type'),
    ).toMatch(/json/);
  });

  it('what a tool gave for the person stands with the answer, and in no request', async () => {
    const conversationId = await api.conversation([], { tools: [{ type: 'mcp', name: 'desk.picture' }] });
    const turn = await api.ask(conversationId, `show [[sim: call desk__picture {}]] ${say('There.')}`);
    expect(turn).toMatchObject({ status: 'completed', answer: 'There.' });
    const { bubbles } = await api.transcript(conversationId, turn.revision);
    const [asks, answers] = bubbles;
    expect(asks).not.toHaveProperty('display');
    expect(answers).toMatchObject({ text: 'There.', display: [{ type: 'mcp' }] });
    expect(JSON.stringify(answers?.display)).toContain('aGVsbG8=');
    const markdown = (await api.send('GET', `${pathOf(conversationId)}?format=markdown`)).text;
    expect(markdown).toContain('> ```json');
    for (const node of turn.nodes) expect((await api.replay(node)).body).not.toContain('aGVsbG8=');
    expect((await api.node(turn.nodes[1] ?? '')).sent[0]).not.toHaveProperty('display');
  });
});
