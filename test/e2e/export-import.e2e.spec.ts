import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ConversationDocument, readForeign } from '@palimpsest/application';
import { verifyLog } from '@palimpsest/audit';
import fc from 'fast-check';
import { documents, shapeOf } from '../../libs/application/testing/arbitrary-documents';
import { asChatGpt, asLibreChat, asOpenWebUi, talks } from '../../libs/application/testing/arbitrary-talks';
import type { Conversation } from '../support/client';
import { temporaryFolder } from '../support/child';
import { requested } from '../support/client-requests';
import { eventsOf } from '../support/installation';
import { api, deployment, process, say } from '../support/one-process';
import { palimpsest } from './cli-process';

const asText = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);

async function send(assistantId: string, document: object) {
  return api.send<Conversation & { code: string; detail: string }>('POST', '/v1/imports', {
    body: { assistantId, document },
  });
}

/** Where a conversation's stream ends now. */
const revisionOf = async (conversationId: string) => String((await eventsOf(process, conversationId)).at(-1)?.revision);

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
    expect(requested(text)).toMatchObject({ calls: [], results: [], answers: ['indeed'] });
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
    const nowhere = join(folder.path, 'nowhere', 'talk.json');
    expect(await palimpsest(['export', conversationId, '--out', nowhere], settings)).toEqual({
      ...{ end: 2, out: '' },
      err: `${nowhere} can't be written: ENOENT. Is its folder there, and writable?\n`,
    });
    const read = await palimpsest(['import', out, '--assistant', assistantId, '--json'], settings);
    expect(read).toMatchObject({ end: 0, err: '' });
    const [imported] = (JSON.parse(read.out) as Report).conversations;
    const document = await api.export(conversationId);
    const { conversationId: id = '' } = imported ?? {};
    expect(shapeOf(await api.export(id, `?minRevision=${await revisionOf(id)}`))).toEqual(shapeOf(document));

    const away = { ...settings, PALIMPSEST_URL: 'http://127.0.0.1:1' };
    const unsent = await palimpsest(['import', out, '--assistant', assistantId], away);
    expect(unsent).toMatchObject({ end: 1, out: '' });
    expect(unsent.err).toMatch(/^Nothing answers at .* It was at conversation 1 of .*; the same command goes on\.\n$/);
    const missing = await palimpsest(['import', out, `${out}.gone`, '--assistant', assistantId], settings);
    expect(missing).toEqual({ end: 2, out: '', err: `${out}.gone can't be read: ENOENT.\n` });

    writeFileSync(out, '{"format":');
    const broken = await palimpsest(['import', out, '--assistant', assistantId], settings);
    expect(broken).toMatchObject({ end: 1, err: '' });
    expect(broken.out).toContain('conversation 1, is skipped: The file ends in the midst of it. (cut_short)');
    folder.remove();
  });
});

interface Report {
  readonly conversations: readonly {
    readonly entry: number;
    readonly conversationId: string;
    readonly created: boolean;
  }[];
  readonly skipped: readonly { readonly entry: number; readonly fault: string }[];
}

const exportsFolder = join(__dirname, '../../libs/application/testing/exports');

/** What an import must not change: where each node stands, what was said there, when, and how it ended. */
const told = ({ nodes, conversation: { head } }: ConversationDocument) =>
  shapeOf({
    ...{ format: 'palimpsest.conversation', version: 1, conversation: { head } },
    nodes: nodes.map(({ messages: _messages, begins, stopReason = 'imported', usage: _usage, ...node }) => ({
      ...{ ...node, usage: null, ...(node.status === 'succeeded' && { stopReason }) },
      ...(begins && { begins: { ...begins, zone: 'UTC' } }),
    })),
  });

describe('the import of what another program exported', () => {
  it('random trees of each program come in as they were', async () => {
    const { assistantId } = await api.assistant();
    const entries = talks.chain((talk) =>
      fc.constantFrom(
        ['chatgpt', asChatGpt(talk)] as const,
        ['librechat', asLibreChat(talk, true)] as const,
        ['open-webui', asOpenWebUi(talk)] as const,
      ),
    );
    await fc.assert(
      fc.asyncProperty(entries, async ([format, entry]) => {
        const read = readForeign(entry, format);
        if ('fault' in read) throw new Error(read.detail);
        const { status, body } = await send(assistantId, read.document);
        expect(status).toBeLessThan(300);
        const document = await api.export(body.conversationId, `?minRevision=${body.revision}`);
        expect(told(document)).toEqual(told(read.document));
      }),
      { numRuns: 20 },
    );
  });

  it('is gone on with, edited and regenerated like any other conversation, and says what nobody knows of it', async () => {
    const { assistantId } = await api.assistant({ state: 'default' });
    const [entry] = JSON.parse(readFileSync(join(exportsFolder, 'chatgpt.json'), 'utf8')) as [unknown];
    const read = readForeign(entry, 'chatgpt');
    if ('fault' in read) throw new Error(read.detail);
    const { body } = await send(assistantId, read.document);
    const { conversationId: id, revision } = body;
    const [first] = (await api.tree(id, String(revision))).nodes;
    expect(await api.node(first?.id ?? '')).toMatchObject({ exact: false, provider: 'chatgpt' });
    expect(await api.send('GET', `/v1/nodes/${first?.id}/replay`)).toMatchObject({
      status: 409,
      body: { code: 'no_exact_request' },
    });
    expect(await api.state(id)).toEqual({ nodeId: body.head, fields: [] });
    expect(await api.send('GET', `/v1/conversations/${id}/tree?asOf=2024-06-10T08:00:00Z`)).toMatchObject({
      status: 404,
      body: { code: 'before_start' },
    });
    expect(await api.send('GET', `/v1/conversations/${id}/tree?asOf=${revision}`)).toMatchObject({
      status: 200,
      body: { head: body.head },
    });
    expect((await api.transcript(id)).bubbles.map(({ text, branch }) => [text, branch.index, branch.count])).toEqual([
      ['[image file-service://file-1]\nWhat does freight to Busan cost, by this list?', 2, 2],
      ['It costs 1,320.', 2, 2],
      ['And how long does it take?', 2, 2],
      ['By road it takes one day.', 2, 2],
    ]);

    const next = await api.ask(id, `my budget is 20,000 won ${say('noted')}`);
    expect(next).toMatchObject({ status: 'completed', answer: 'noted' });
    const { body: request, verified } = await api.replay(next.nodes[0] ?? '');
    expect({ verified, request }).toMatchObject({
      verified: true,
      request: expect.stringContaining('By road it takes one day.'),
    });
    expect(request).toContain('1320.0');
    expect(request).not.toContain('Where to?');
    expect((await api.state(id)).fields).toMatchObject([
      { field: 'budget', value: 20_000, source: { nodeId: next.head } },
    ]);
    expect((await api.lineage(`node=${body.head}&minRevision=${next.revision}`)).heldBy?.items).toMatchObject([
      { nodeId: next.nodes[0] },
    ]);
    const asked = await api.tree(id, String(next.revision));
    const turnId = asked.nodes.find(({ id: node }) => node === body.head)?.turnId ?? '';
    const edited = await api.edit(id, turnId, `And by sea? ${say('three days')}`);
    expect(edited).toMatchObject({ status: 'completed', answer: 'three days' });
    const again = await api.regenerate(id, turnId);
    expect(again.status).toBe('completed');
    expect((await api.replay(again.nodes[0] ?? '')).body).not.toContain('By road');
  });

  it('the command line brings in each conversation once, names the broken one, and sends nothing on a dry run', async () => {
    const { assistantId } = await api.assistant();
    const folder = temporaryFolder();
    const settings = { PALIMPSEST_URL: process.url, PALIMPSEST_API_KEY: api.apiKey, PALIMPSEST_DATA_DIR: folder.path };
    const file = join(folder.path, 'conversations.json');
    copyFileSync(join(exportsFolder, 'chatgpt.json'), file);
    const run = (...more: readonly string[]) => palimpsest(['import', file, ...more], settings);

    const newest = async () => (await api.conversations('?limit=1')).items[0]?.conversationId;
    const before = await newest();
    const dry = await run('--dry-run');
    expect(dry).toMatchObject({ end: 1, err: '' });
    expect(dry.out).toBe(
      `${file}, conversation 2, is skipped: It has no mapping of nodes. (shape)\n` +
        '3 conversations; can come in: 2, with 5 turns and 6 nodes; skipped: 1.\n' +
        '  system texts and hidden context, left out: 1\n  images, files and recordings, named at most: 2\n' +
        '  questions without an answer: 1\n',
    );
    expect(await newest()).toBe(before);

    const first = JSON.parse((await run('--assistant', assistantId, '--json')).out) as Report;
    expect(first.conversations.map(({ entry, created }) => [entry, created])).toEqual([
      [1, true],
      [3, true],
    ]);
    expect(first.skipped).toMatchObject([{ entry: 2, fault: 'shape' }]);
    const ids = first.conversations.map(({ conversationId }) => conversationId);
    const revisions = async () => Promise.all(ids.map(revisionOf));
    const stored = await revisions();

    const again = await run('--assistant', assistantId);
    expect(again.out).toContain('3 conversations; new: 0; there before: 2; skipped: 1.');
    expect(await revisions()).toEqual(stored);
    folder.remove();
  });
});

it('every shipped projection is what a rebuild makes of the log', async () => {
  expect(await deployment.faultsOfReadModels(process)).toEqual([]);
});
