import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConversationView } from '@palimpsest/application';
import { verifyLog } from '@palimpsest/audit';
import fc from 'fast-check';
import { documents, shapeOf } from '../../libs/application/testing/arbitrary-documents';
import { type Client, type Conversation } from '../support/client';
import { temporaryFolder } from '../support/child';
import { Deployment, type InnerProcess } from '../support/installation';
import { palimpsest } from './cli-process';

let deployment: Deployment;
let process: InnerProcess;
let api: Client;

beforeAll(async () => {
  deployment = await Deployment.open();
  process = await deployment.start();
  api = await deployment.client(process);
});
beforeEach(() => deployment.tools.behave());
afterAll(() => deployment.close());

const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
const say = (text: string) => `[[sim: say ${text}]]`;

async function send(assistantId: string, document: object) {
  return api.send<Conversation & { code: string; detail: string }>('POST', '/v1/imports', {
    body: { assistantId, document },
  });
}

/** A tool used twice, an edit, a regeneration, a call that failed, a compaction, and a turn behind it; the head on an older branch. */
async function branchedConversation() {
  deployment.tools.behave(() => ({ text: 'the price is 1200', display: { chart: [1] } }));
  const conversationId = await api.conversation(['lookup']);
  await api.ask(conversationId, 'price? [[sim: parallel=2 tool=lookup args={"q":"a"}]] [[sim: echo]]');
  const second = await api.ask(conversationId, `and then? ${say('then this')}`);
  await api.edit(conversationId, second.turnId, `and now? ${say('now that')}`);
  await api.regenerate(conversationId, second.turnId);
  await api.ask(conversationId, 'it breaks [[sim: fail invalid_request]]');
  await api.compact(conversationId);
  await api.ask(conversationId, `behind the summary ${say('indeed')}`);
  const { head, revision } = await api.switchTo(conversationId, second.nodes[0] ?? '');
  await api.tree(conversationId, revision);
  return { conversationId, head };
}

describe('export and import', () => {
  it('B10: parents, branches, head, kinds, statuses, texts and times survive the round trip', async () => {
    const { conversationId } = await branchedConversation();
    const document = await api.export(conversationId);
    const { assistantId } = await api.assistant({ name: 'Another' });
    const { status, body } = await send(assistantId, document);
    expect(status).toBe(201);
    expect(body.conversationId).not.toBe(conversationId);

    const again = await api.export(body.conversationId, `?minRevision=${body.revision}`);
    expect(shapeOf(again)).toEqual(shapeOf(document));
    expect(document.nodes.map(({ kind }) => kind)).toContain('compaction');
    expect(JSON.stringify(document)).not.toContain('chart');
    const tree = await api.tree(body.conversationId);
    expect(tree.head).toBe(body.head);
    expect(tree.nodes.map(({ id, parent }) => [id, parent])).toEqual(again.nodes.map(({ id, parent }) => [id, parent]));
    const texts = async (id: string) =>
      (await api.transcript(id)).bubbles.map(({ text, branch }) => [text, branch.index]);
    expect(await texts(body.conversationId)).toEqual(await texts(conversationId));
  });

  it('B10: one path is a conversation of its own, with every parent on it', async () => {
    const { conversationId, head } = await branchedConversation();
    const document = await api.export(conversationId, '?path=head');
    expect(document.nodes.at(-1)?.id).toBe(head);
    document.nodes.forEach(({ parent }, at) => expect(parent).toBe(document.nodes[at - 1]?.id ?? null));
    const { assistantId } = await api.assistant();
    const { body } = await send(assistantId, document);
    expect(shapeOf(await api.export(body.conversationId, `?minRevision=${body.revision}`))).toEqual(shapeOf(document));
  });

  it('the same document again adds nothing and answers the same, whatever was said since', async () => {
    const { conversationId } = await branchedConversation();
    const document = await api.export(conversationId);
    const { assistantId } = await api.assistant();
    const imported = await send(assistantId, document);
    await api.ask(imported.body.conversationId, say('more'));
    const again = await send(assistantId, document);
    expect(again).toMatchObject({ status: 200, body: imported.body });
  });

  it('the next turn grows from imported nodes, on every branch, and edits, switches and compactions follow the rules', async () => {
    const { conversationId } = await branchedConversation();
    const { assistantId } = await api.assistant();
    const { body } = await send(assistantId, await api.export(conversationId));
    const id = body.conversationId;
    const next = await api.ask(id, `go on ${say('on')}`);
    expect(next).toMatchObject({ status: 'completed', answer: 'on' });
    const replay = await api.replay(next.nodes[0] ?? '');
    expect(replay).toMatchObject({ verified: true, exact: true });
    expect(replay.body).toContain('the price is 1200');
    expect(replay.body).toContain('then this');
    expect(replay.body).not.toContain('now that');
    const other = await api.ask(id, `and on ${say('and on')}`);
    expect(await api.replay(other.nodes[0] ?? '')).toMatchObject({ verified: true });

    const document = await api.export(id, `?minRevision=${other.revision}`);
    const behind = document.nodes.find(({ sent }) => JSON.stringify(sent).includes('behind the summary'));
    await api.switchTo(id, behind?.id ?? '');
    const there = await api.ask(id, `there ${say('there')}`);
    const text = (await api.replay(there.nodes[0] ?? '')).body;
    expect(text).toContain('Summary of the conversation so far');
    expect(text).not.toContain('the price is 1200 the price');
    expect((await api.compact(id)).status).toBe('succeeded');
  });

  it('an imported answer is rendered for a provider of another format, its calls paired', async () => {
    const { conversationId } = await branchedConversation();
    const model = { provider: 'simulated', name: 'simulated-anthropic' } as const;
    const { assistantId } = await api.assistant({ model });
    const { body } = await send(assistantId, await api.export(conversationId));
    const next = await api.ask(body.conversationId, `go on ${say('on')}`);
    expect(next.answer).toBe('on');
    const sent = JSON.parse((await api.replay(next.nodes[0] ?? '')).body) as {
      messages: { content: { type: string }[] }[];
    };
    const types = sent.messages.flatMap(({ content }) => content.map(({ type }) => type));
    expect(types.filter((type) => type === 'tool_use')).toHaveLength(2);
    expect(types.filter((type) => type === 'tool_result')).toHaveLength(2);
  });

  it('says of an imported node that no exact request is known, and the log still verifies', async () => {
    const { conversationId } = await branchedConversation();
    const { assistantId } = await api.assistant();
    const { body } = await send(assistantId, await api.export(conversationId));
    const [node] = (await api.tree(body.conversationId, body.revision)).nodes;
    expect(await api.node(node?.id ?? '')).toMatchObject({ exact: false, length: 0 });
    const replay = await api.send('GET', `/v1/nodes/${node?.id}/replay`);
    expect(replay).toMatchObject({ status: 409, body: { code: 'no_exact_request' } });

    const { store, codec, log } = process.installation.running.system;
    const report = await verifyLog({ store, content: { codec, log }, trusted: [] });
    const { conversationId: imported } = body;
    expect(report.requests).toBeGreaterThan(0);
    expect(report.faults.filter((fault) => JSON.stringify(fault, asText).includes(imported))).toEqual([]);
  });

  it('a document with a fault is refused whole, with its place', async () => {
    const { conversationId } = await branchedConversation();
    const { assistantId } = await api.assistant();
    const document = await api.export(conversationId);
    const nodes = document.nodes.map((node, at) => (at === 1 ? { ...node, parent: 'nowhere' } : node));
    const { status, body } = await send(assistantId, { ...document, nodes });
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', fault: 'unknown_parent', node: 1 },
    });
  });

  it('a deleted conversation is exported no more, and not imported a second time', async () => {
    const conversationId = await api.conversation();
    const { revision } = await api.ask(conversationId, say('something'));
    const document = await api.export(conversationId, `?minRevision=${revision}`);
    const { assistantId } = await api.assistant();
    const { body } = await send(assistantId, document);
    await api.remove(body.conversationId);
    expect((await api.send('GET', `/v1/conversations/${body.conversationId}/export`)).status).toBe(410);
    expect((await send(assistantId, document)).status).toBe(410);
  });

  it('B10: random trees survive import, export, import and export', async () => {
    const { assistantId } = await api.assistant();
    await fc.assert(
      fc.asyncProperty(documents, async (document) => {
        const once = await send(assistantId, document);
        expect(once.status).toBeLessThan(300);
        const first = await api.export(once.body.conversationId, `?minRevision=${once.body.revision}`);
        const twice = await send(assistantId, first);
        const second = await api.export(twice.body.conversationId, `?minRevision=${twice.body.revision}`);
        expect(shapeOf(first)).toEqual(shapeOf(document));
        expect(shapeOf(second)).toEqual(shapeOf(document));
      }),
      { numRuns: 25 },
    );
  });

  it('B10: the command line writes a file and reads it, and says what is wrong with one', async () => {
    const { conversationId } = await branchedConversation();
    const { assistantId } = await api.assistant();
    const folder = temporaryFolder();
    const settings = { PALIMPSEST_URL: process.url, PALIMPSEST_API_KEY: api.apiKey, PALIMPSEST_DATA_DIR: folder.path };
    const out = join(folder.path, 'talk.json');
    const written = await palimpsest(['export', conversationId, '--out', out], settings);
    expect(written).toMatchObject({ end: 0, err: '' });
    const read = await palimpsest(['import', out, '--assistant', assistantId, '--json'], settings);
    expect(read).toMatchObject({ end: 0, err: '' });
    const imported = JSON.parse(read.out) as ConversationView;
    const document = await api.export(conversationId);
    expect(shapeOf(await api.export(imported.conversationId))).toEqual(shapeOf(document));

    writeFileSync(out, '{"format":');
    const broken = await palimpsest(['import', out, '--assistant', assistantId], settings);
    expect(broken).toMatchObject({ end: 2 });
    expect(broken.err).toContain('is no JSON document');
    folder.remove();
  });
});
