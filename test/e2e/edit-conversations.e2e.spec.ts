import { verifyLog } from '@palimpsest/audit';
import { randomUUID } from 'node:crypto';
import { type Client, type Tree, type Turn } from '../support/client';
import { requested, unpairedIn } from '../support/client-requests';
import { Deployment, eventsOf, type InnerProcess } from '../support/installation';

let deployment: Deployment;
let process: InnerProcess;
let other: InnerProcess;
let api: Client;

beforeAll(async () => {
  deployment = await Deployment.open();
  [process, other] = [await deployment.start(), await deployment.start()];
  api = await deployment.client(process);
});
beforeEach(() => deployment.tools.behave());
afterAll(() => deployment.close());

const say = (text: string) => `[[sim: say ${text}]]`;
const system = () => process.installation.running.system;
const last = <T>(items: readonly T[]): T => items.at(-1) as T;
const bodyOf = async ({ nodes }: Turn): Promise<string> => (await api.replay(last(nodes))).body;

/** A conversation of two turns, the second with a tool's result, a playbook of it, and the playbook's edit conversation. */
async function opened() {
  const source = await api.conversation(['lookup']);
  const first = await api.ask(source, `FIRST question ${say('FIRST answer')}`);
  const second = await api.ask(source, `SECOND question [[sim: call lookup {"q":1}]] ${say('SECOND answer')}`);
  const made = await api.makePlaybook(source);
  if (made.status !== 'created') throw new Error(made.error.detail);
  const edit = await api.openEdit(made.playbookId);
  return { source, first, second, playbookId: made.playbookId, edit: edit.conversationId, opening: edit };
}

describe('an edit conversation', () => {
  it('begins where its source stood when the playbook was made, and goes on from there', async () => {
    const { source, first, second, edit, opening } = await opened();
    expect(opening).toMatchObject({ head: second.head, source: { conversationId: source, nodeId: second.head } });
    const begun = await api.transcript(edit);
    expect(begun.head).toBe(second.head);
    expect(begun.bubbles.map(({ text }) => text.split(' ').slice(0, 2).join(' '))).toEqual(['FIRST question', 'FIRST answer', 'SECOND question', 'SECOND answer']); // prettier-ignore

    const turn = await api.ask(edit, `EDIT question ${say('EDIT answer')}`, { parent: second.head ?? '' });
    expect(turn).toMatchObject({ status: 'completed', answer: 'EDIT answer' });
    const { questions, answers, results } = requested(await bodyOf(turn));
    expect(questions.map((text) => text.split(' ')[0])).toEqual(['FIRST', 'SECOND', 'EDIT']);
    expect(answers).toEqual(['FIRST answer', 'SECOND answer']);
    expect(results).toHaveLength(1);

    const tree = await api.tree(edit, turn.revision);
    expect(tree).toMatchObject({ head: turn.head, source: { conversationId: source, nodeId: second.head } });
    const nodes = tree.nodes.map(({ id, conversationId, parent }) => ({ id, conversationId, parent }));
    const there = [...first.nodes, ...second.nodes].map((id, at, all) => ({ id, conversationId: source, parent: all[at - 1] ?? null })); // prettier-ignore
    expect(nodes).toEqual([...there, { id: turn.head, conversationId: undefined, parent: second.head }]);
    expect(await api.node(turn.head ?? '')).toMatchObject({ conversationId: edit, parent: second.head, sent: [{ type: 'user' }] }); // prettier-ignore
    const { bubbles } = await api.transcript(edit, turn.revision);
    expect(bubbles.map(({ branch }) => `${branch.index}/${branch.count}`)).toEqual(Array(6).fill('1/1'));
  });

  it('copies nothing: its first request keeps ranges of its source’s, and stores only what is new', async () => {
    const { edit, second } = await opened();
    const turn = await api.ask(edit, `EDIT ${say('done')}`);
    const events = await eventsOf(process, edit);
    const [request] = events.filter(({ type }) => type === 'CallRequested');
    const { manifest, segments } = request?.content as { manifest: readonly object[]; segments: readonly unknown[] };
    expect(manifest[0]).toMatchObject({ copy: second.head, from: 0 });
    // The answer before, the question, and the frame that they stand in.
    expect(segments.length).toBeLessThanOrEqual(3);
    const stored = JSON.stringify(events.filter(({ type }) => type !== 'TurnStarted').map(({ content }) => content));
    for (const text of ['FIRST question', 'FIRST answer', 'SECOND question']) expect(stored).not.toContain(text);
    expect(await api.replay(last(turn.nodes))).toMatchObject({ verified: true });
  });

  it('is the same one each time, under any key and at any process; each key has its own answer', async () => {
    const { playbookId, edit, opening } = await opened();
    const turn = await api.ask(edit, say('one'));
    const again = await api.at(other).send('POST', `/v1/playbooks/${playbookId}/conversations`, { key: 'another' });
    expect(again).toMatchObject({ status: 200, body: opening });
    expect((await eventsOf(process, edit)).filter(({ type }) => type === 'ConversationStarted')).toHaveLength(1);
    expect((await api.tree(edit, turn.revision)).head).toBe(turn.head);

    const { source } = await opened();
    const made = await api.makePlaybook(source);
    if (made.status !== 'created') throw new Error('There is no playbook.');
    const path = `/v1/playbooks/${made.playbookId}/conversations`;
    const both = await Promise.all([api, api.at(other)].map((client) => client.send('POST', path, { key: 'same' })));
    expect(both[0]).toMatchObject({ status: 201, body: both[1]?.body });
  });

  it('and its source go on without seeing each other, and both replay to their digests', async () => {
    const { source, second, edit } = await opened();
    const here = await api.ask(edit, `in the EDIT ${say('EDIT said')}`);
    const there = await api.ask(source, `in the SOURCE ${say('SOURCE said')}`);
    const here2 = await api.ask(edit, `more EDIT ${say('EDIT again')}`);
    const edited = await api.edit(source, second.turnId, `corrected in the SOURCE ${say('SOURCE corrected')}`);
    const here3 = await api.at(other).ask(edit, `third EDIT ${say('EDIT third')}`);
    for (const turn of [here, here2, here3]) expect(await bodyOf(turn)).not.toMatch(/SOURCE/);
    for (const turn of [there, edited]) expect(await bodyOf(turn)).not.toMatch(/EDIT/);
    for (const id of [...here.nodes, ...here2.nodes, ...here3.nodes, ...there.nodes, ...edited.nodes])
      expect(await api.replay(id)).toMatchObject({ verified: true });
    const texts = (await api.transcript(edit, here3.revision)).bubbles.map(({ text }) => text).join(' ');
    expect(texts).not.toMatch(/SOURCE/);
    expect(texts).toMatch(/FIRST.*SECOND.*EDIT said.*EDIT again.*EDIT third/);
    expect((await api.tree(edit, here3.revision)).nodes.map(({ id }) => id)).not.toContain(there.head);
  });

  it('P02: node by node it replays what was sent, however far its source went on, with every byte’s origin', async () => {
    const { source, second, edit } = await opened();
    const turn = await api.ask(edit, `EDIT ${say('done')}`);
    const before = await api.replay(last(turn.nodes));
    for (let n = 0; n < 3; n += 1) await api.ask(source, `later ${n} ${say('later')}`);
    await api.clear(source);
    await api.ask(source, `after the clear ${say('later')}`);
    const after = await api.at(other).replay(last(turn.nodes));
    expect(after).toEqual(before);
    expect(after.body).not.toContain('later');
    const captured = deployment.model.captures.some(({ body }) => body.toString() === after.body);
    expect(captured).toBe(true);
    const events = new Map<string | null, string>();
    for (const id of [source, edit]) for (const event of await eventsOf(process, id)) events.set(event.id, id);
    const origins = new Set(after.parts.map(({ eventId }) => events.get(eventId)));
    expect([origins.has(source), origins.has(edit)]).toEqual([true, true]);
    for (const { what, eventId } of after.parts) if (what === 'window') expect(events.get(eventId)).toBeDefined();
    expect(second.status).toBe('completed');
  });

  it('B12: takes no parent from anywhere but the node that it grows from; the source takes none of its', async () => {
    const { source, first, second, edit } = await opened();
    const beside = await api.ask(source, say('beside'));
    for (const parent of [first.head ?? '', beside.head ?? '', `${randomUUID()}-1`])
      await expect(api.ask(edit, 'x', { parent })).rejects.toMatchObject({ status: 404, code: 'unknown_parent' });
    const turn = await api.ask(edit, say('one'));
    await expect(api.ask(source, 'x', { parent: turn.head ?? '' })).rejects.toMatchObject({ code: 'unknown_parent' });
    await expect(api.ask(edit, 'x', { parent: second.head ?? '' })).rejects.toMatchObject({
      code: 'revision_conflict',
    });
    const stranger = await deployment.client(process);
    for (const id of [source, edit])
      await expect(stranger.ask(id, 'x', { parent: second.head ?? '' })).rejects.toMatchObject({ status: 404 });
  });

  it('does not edit, regenerate or switch to what is its source’s, and says whose it is', async () => {
    const { source, first, edit } = await opened();
    const inSource = { status: 409, code: 'in_source' };
    await expect(api.edit(edit, first.turnId, 'x')).rejects.toMatchObject(inSource);
    await expect(api.regenerate(edit, first.turnId)).rejects.toMatchObject(inSource);
    await expect(api.switchTo(edit, first.head ?? '')).rejects.toMatchObject(inSource);
    const said = await api.send('PUT', `/v1/conversations/${edit}/head`, { body: { nodeId: first.head } });
    expect(said.body).toMatchObject({ conversationId: source });
    await expect(api.turn(edit, first.turnId)).rejects.toMatchObject({ status: 404 });
    await expect(api.edit(edit, randomUUID(), 'x')).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });

  it('edits, regenerates and switches what is its own, up to where it grew from', async () => {
    const { second, edit } = await opened();
    const one = await api.ask(edit, `ONE ${say('one')}`);
    const two = await api.edit(edit, one.turnId, `TWO ${say('two')}`);
    const three = await api.regenerate(edit, two.turnId);
    expect(await bodyOf(three)).not.toContain('ONE');
    const { bubbles } = await api.transcript(edit, three.revision);
    expect(bubbles.slice(4).map(({ branch }) => `${branch.index}/${branch.count}`)).toEqual(['3/3', '3/3']);
    expect(await api.switchTo(edit, one.head ?? '')).toMatchObject({ head: one.head });
    expect(await api.switchTo(edit, second.head ?? '')).toMatchObject({ head: one.head });
    const next = await api.ask(edit, `after ONE ${say('x')}`);
    expect(requested(await bodyOf(next)).questions.map((text) => text.split(' ')[0])).toEqual(['FIRST', 'SECOND', 'ONE', 'after']); // prettier-ignore
  });

  it('a clear of it leaves nothing of its source in sight, and its source as it was', async () => {
    const { source, second, edit } = await opened();
    await api.ask(edit, say('one'));
    await api.clear(edit);
    const turn = await api.ask(edit, `anew ${say('anew')}`);
    expect(requested(await bodyOf(turn)).questions).toHaveLength(1);
    expect((await api.transcript(edit, turn.revision)).bubbles).toHaveLength(2);
    await expect(api.switchTo(edit, second.head ?? '')).rejects.toMatchObject({ code: 'cleared' });
    expect(await api.transcript(source)).toMatchObject({ head: second.head });
  });

  it('goes on where calls of its source were left open: they are closed there, and the request is whole', async () => {
    const source = await api.conversation(['note']);
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    deployment.tools.behave(async () => {
      await held;
      return { text: 'too late' };
    });
    const { turnId, frames } = await api.begin(source, '[[sim: call note {}]]');
    await frames.until('tool.call');
    await api.cancel(source, turnId);
    const made = await api.makePlaybook(source);
    if (made.status !== 'created') throw new Error(made.error.detail);
    const { conversationId: edit } = await api.openEdit(made.playbookId);
    finish();
    const turn = await api.ask(edit, say('whole'));
    const body = await bodyOf(turn);
    expect(unpairedIn(body)).toEqual([]);
    expect(requested(body).results).toMatchObject([{ text: expect.stringContaining('Interrupted') as string }]);
    expect(await api.replay(last(turn.nodes))).toMatchObject({ verified: true });
  });

  it('can itself be the source of a playbook, and that one’s edit conversation grows through both', async () => {
    const { edit, source } = await opened();
    await api.ask(edit, `MIDDLE ${say('middle said')}`);
    const made = await api.makePlaybook(edit);
    if (made.status !== 'created') throw new Error(made.error.detail);
    const leaf = (await api.openEdit(made.playbookId)).conversationId;
    const turn = await api.ask(leaf, `LEAF ${say('leaf said')}`);
    expect(requested(await bodyOf(turn)).questions.map((text) => text.split(' ')[0])).toEqual(['FIRST', 'SECOND', 'MIDDLE', 'LEAF']); // prettier-ignore
    expect((await api.transcript(leaf, turn.revision)).bubbles).toHaveLength(8);
    const owners = (tree: Tree) => tree.nodes.map(({ conversationId }) => conversationId);
    expect([...new Set(owners(await api.tree(leaf, turn.revision)))]).toEqual([source, edit, undefined]);
    expect(await api.at(other).replay(last(turn.nodes))).toMatchObject({ verified: true });
    const refused = await api.send('DELETE', `/v1/conversations/${edit}`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'has_dependents', conversationIds: [leaf] } });
  });

  it('its source is deleted with it or not at all; alone it goes, and the source stays', async () => {
    const { source, edit, playbookId } = await opened();
    const turn = await api.ask(edit, say('one'));
    const refused = await api.send('DELETE', `/v1/conversations/${source}`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'has_dependents', conversationIds: [edit] } });
    await api.remove(edit);
    expect((await api.send('GET', `/v1/conversations/${edit}`)).status).toBe(410);
    expect([404, 410]).toContain((await api.send('GET', `/v1/nodes/${turn.head}/replay`)).status);
    expect((await api.send('POST', `/v1/playbooks/${playbookId}/conversations`)).status).toBe(410);
    const more = await api.ask(source, say('still here'));
    expect(more).toMatchObject({ status: 'completed' });
    await api.remove(source);

    const second = await opened();
    await api.ask(second.edit, say('one'));
    await api.remove(second.source, '?cascade=true');
    for (const id of [second.source, second.edit])
      expect((await api.send('GET', `/v1/conversations/${id}`)).status).toBe(410);
  });

  it('whoever would begin it after its source was deleted is stopped', async () => {
    const source = await api.conversation();
    await api.ask(source, say('one'));
    const made = await api.makePlaybook(source);
    if (made.status !== 'created') throw new Error(made.error.detail);
    await api.remove(source);
    const late = await api.send('POST', `/v1/playbooks/${made.playbookId}/conversations`);
    expect(late).toMatchObject({ status: 410, body: { code: 'sealed' } });
  });

  it('does not grow from what was cleared before it was opened; one opened before goes on', async () => {
    const { source, playbookId, edit } = await opened();
    await api.clear(source);
    expect((await api.openEdit(playbookId)).conversationId).toBe(edit);
    expect(await api.ask(edit, say('on'))).toMatchObject({ status: 'completed' });
    const unopened = await api.conversation();
    await api.ask(unopened, say('one'));
    const made = await api.makePlaybook(unopened);
    if (made.status !== 'created') throw new Error(made.error.detail);
    await api.clear(unopened);
    await expect(api.openEdit(made.playbookId)).rejects.toMatchObject({ status: 409, code: 'cleared' });
  });

  it('both have the same subject, and each its own key', async () => {
    const { assistantId } = await api.assistant();
    const { conversationId: source } = await api.start({ assistantId, subjectId: 'ann@example.test' });
    await api.ask(source, say('one'));
    const made = await api.makePlaybook(source);
    if (made.status !== 'created') throw new Error(made.error.detail);
    const edit = (await api.openEdit(made.playbookId)).conversationId;
    const identities = await Promise.all([source, edit].map(async (id) => system().identities.find(id)));
    expect(identities[0]?.subjectId).toBe(identities[1]?.subjectId);
    const ids = [`conversation-${source}`, `conversation-${edit}`, `playbook-${made.playbookId}`];
    const { rows } = await deployment.pool.query<{ wrapped_by: string; n: string }>(
      `select wrapped_by, count(*)::text as n from ops.keys where id = any($1::text[]) group by 1`,
      [ids],
    );
    expect(rows).toEqual([{ wrapped_by: `subject-${identities[0]?.subjectId}`, n: '3' }]);
  });
});

it('the log verifies with all requests, and the read models equal a rebuild', async () => {
  const { source, edit } = await opened();
  await api.ask(edit, say('one'));
  const { store, codec, log } = system();
  const report = await verifyLog({ store, content: { codec, log } });
  expect(report.faults).toEqual([]);
  const alone = await verifyLog({ store, content: { codec, log }, conversationId: edit });
  expect(alone).toMatchObject({ ok: true, requests: 1 });
  expect(await api.tree(source)).toBeDefined();
  expect(await deployment.faultsOfReadModels(process)).toEqual([]);
});
