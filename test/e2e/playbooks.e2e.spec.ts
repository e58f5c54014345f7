import { subjectKeyId } from '@palimpsest/event-store';
import { type Client, until } from '../support/client';
import { requested } from '../support/client-requests';
import { Deployment, eventsOf, type InnerProcess, mortal } from '../support/installation';

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

async function asked(directives = '', tools = ['lookup']) {
  const conversationId = await api.conversation(tools);
  return { conversationId, turn: await api.ask(conversationId, `QUESTION ${directives} ${say('ANSWER')}`) };
}

async function made(conversationId: string, body: object = {}, key?: string) {
  const transform = await api.makePlaybook(conversationId, body, key);
  if (transform.status !== 'created') throw new Error(transform.error.detail);
  return transform;
}

describe('a transform', () => {
  it('drafts, is told what is wrong, and drafts again under the attempt before; the head does not move', async () => {
    const { conversationId, turn } = await asked('[[sim: draft-errors 1]]');
    const transform = await made(conversationId);
    expect(transform).toMatchObject({
      version: 1,
      playbook: { title: 'QUESTION' },
      attempts: [{ ok: false }, { ok: true }],
    });
    const [first = '', second = ''] = transform.nodes;
    expect(transform.attempts[0]?.errors).toEqual([
      '/steps/0/tool: the assistant has no tool named "no_such_tool". It has: lookup.',
    ]);
    const tree = await api.tree(conversationId, transform.revision);
    expect(tree.head).toBe(turn.head);
    const nodes = tree.nodes.filter(({ kind }) => kind === 'transform');
    expect(nodes).toMatchObject([
      { id: first, parent: turn.head, turnId: null, status: 'succeeded' },
      { id: second, parent: first, turnId: null, status: 'succeeded' },
    ]);
    const [one, two] = [await api.replay(first), await api.replay(second)];
    expect([one.verified, two.verified]).toEqual([true, true]);
    expect(requested(one.body).questions[0]).toContain('QUESTION');
    expect(requested(one.body).questions[1]).toMatch(/JSON Schema[\s\S]*"steps"[\s\S]*lookup/);
    const { questions, answers } = requested(two.body);
    expect([questions.length, answers.length]).toEqual([3, 2]);
    expect(questions[2]).toContain('no tool named "no_such_tool"');
    const judged = (await eventsOf(process, conversationId)).filter(({ type }) => type === 'TransformJudged');
    expect(judged.map(({ data }) => data)).toEqual([
      { nodeId: first, ok: false },
      { nodeId: second, ok: true, playbookId: transform.playbookId },
    ]);
    expect(await api.playbook(transform.playbookId)).toMatchObject({
      ...{ version: 1, playbook: transform.playbook, transform: second },
      source: { conversationId, nodeId: turn.head },
    });
  });

  it('leaves nothing in the conversation: no byte of the next request, no bubble', async () => {
    const { conversationId } = await asked('[[sim: draft-errors 1]]');
    const transform = await made(conversationId);
    const next = await api.ask(conversationId, `NEXT ${say('ok')}`);
    const { body } = await api.replay(next.nodes[0] ?? '');
    expect(requested(body).questions.map((text) => text.split(' ')[0])).toEqual(['QUESTION', 'NEXT']);
    for (const text of ['JSON Schema', 'no_such_tool', 'An answer to', '{{period}}']) expect(body).not.toContain(text);
    const { bubbles } = await api.transcript(conversationId, next.revision);
    expect(bubbles.map(({ text }) => text.split(' ')[0])).toEqual(['QUESTION', 'ANSWER', 'NEXT', 'ok']);
    for (const id of transform.nodes)
      await expect(api.switchTo(conversationId, id)).rejects.toMatchObject({ code: 'not_switchable' });
  });

  it('that never comes to a sound draft is 200 and failed, with the errors of each attempt, and makes no playbook', async () => {
    const { conversationId, turn } = await asked('[[sim: draft-errors 9]]');
    const path = `/v1/conversations/${conversationId}/playbooks`;
    const failed = await api.send('POST', path, { body: { maxAttempts: 2 }, key: 'failing' });
    expect(failed).toMatchObject({ status: 200, body: { status: 'failed', error: { code: 'no_sound_draft' } } });
    expect(failed.body['attempts']).toHaveLength(2);
    expect(failed.body['playbookId']).toBeUndefined();
    expect((await api.tree(conversationId, String(failed.body['revision']))).head).toBe(turn.head);
    // By default three.
    expect((await api.makePlaybook(conversationId)).nodes).toHaveLength(3);
    const tooMany = await api.send('POST', path, { body: { maxAttempts: 4 } });
    expect(tooMany).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    const again = await api.at(other).send('POST', path, { body: { maxAttempts: 2 }, key: 'failing' });
    expect([again.status, again.body]).toEqual([200, failed.body]);
  });

  it('goes on after an answer of no use, and ends where the provider fails', async () => {
    const called = await asked('[[sim: draft-call lookup {}]]');
    const transform = await made(called.conversationId);
    expect(transform.attempts).toMatchObject([
      { ok: false, errors: [expect.stringContaining('called a tool')] },
      { ok: true },
    ]);
    const prose = await asked('[[sim: draft-say Here you are.]]');
    expect(await api.makePlaybook(prose.conversationId, { maxAttempts: 1 })).toMatchObject({
      status: 'failed',
      attempts: [{ errors: [expect.stringMatching(/^The answer is not JSON/)] }],
    });
    const broken = await asked('[[sim: draft-fail auth]]');
    const failed = await api.makePlaybook(broken.conversationId);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'auth' }, nodes: [expect.anything()] });
    expect(await api.ask(broken.conversationId, say('on'))).toMatchObject({ status: 'completed' });
  });

  it('is held to a schema of the caller’s own', async () => {
    const { conversationId } = await asked('[[sim: draft-say {"wrong":1}]] [[sim: draft-say {"recipe":["boil"]}]]');
    const schema = { type: 'object', required: ['recipe'], properties: { recipe: { type: 'array' } } };
    const transform = await made(conversationId, { schema });
    expect(transform).toMatchObject({ playbook: { recipe: ['boil'] }, attempts: [{ errors: ["The whole must have required property 'recipe'."] }, {}] }); // prettier-ignore
    for (const unusable of [{ type: 'string' }, { type: 'object', properties: { a: { type: 'nonsense' } } }])
      await expect(api.makePlaybook(conversationId, { schema: unusable })).rejects.toMatchObject({ status: 400 });
    await expect(api.makePlaybook(conversationId, { schema: { type: 'string' } })).rejects.toThrow(
      /a playbook is an object/,
    );
  });

  it('has its effect once under one key: in a row, at once, and at any process', async () => {
    const { conversationId } = await asked('[[sim: draft-errors 1]] [[sim: draft-stall ms=300]]');
    const both = await Promise.all(
      [api, api.at(other)].map((client) => client.makePlaybook(conversationId, {}, 'one')),
    );
    expect(both[0]).toEqual(both[1]);
    expect(await api.at(other).makePlaybook(conversationId, {}, 'one')).toEqual(both[0]);
    const nodes = (await api.tree(conversationId, both[0]?.revision)).nodes.filter(({ kind }) => kind === 'transform');
    expect(nodes).toHaveLength(2);
    const conflict = api.makePlaybook(conversationId, { maxAttempts: 1 }, 'one');
    await expect(conflict).rejects.toMatchObject({ status: 409, code: 'idempotency_conflict' });
    const { nodes: fresh } = await api.makePlaybook(conversationId, {}, 'two');
    expect(fresh).not.toEqual(both[0]?.nodes);
  });

  it('whose process died goes on under the same key: the attempt left behind is closed, and counts for none', async () => {
    const { conversationId } = await asked('[[sim: draft-errors 1]] [[sim: draft-stall ms=60000 round=2]]');
    const dying = await deployment.start(mortal);
    const lost = api
      .at(dying)
      .makePlaybook(conversationId, {}, 'over')
      .catch(() => undefined);
    const pending = async () =>
      (await api.tree(conversationId)).nodes.filter(({ kind, status }) => kind === 'transform' && status === 'pending');
    await until(async () => (await pending()).length === 1 && (await api.tree(conversationId)).nodes.length === 3);
    await dying.cutOff();
    const transform = await made(conversationId, {}, 'over');
    expect(transform.attempts).toMatchObject([{ ok: false }, { ok: false }, { ok: true }]);
    expect(transform.attempts[1]?.errors[0]).toContain('ended before the answer came');
    expect(await api.at(other).makePlaybook(conversationId, {}, 'over')).toEqual(transform);
    // It never hears of anything again; its own request hangs until it is closed.
    void lost;
  });

  it('C06: that runs and ends in the midst of a turn breaks nothing', async () => {
    const { conversationId, turn } = await asked();
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    deployment.tools.behave(async () => {
      await held;
      return { text: 'found' };
    });
    const { turnId, frames } = await api.begin(conversationId, `MIDST [[sim: call lookup {}]] ${say('done')}`);
    await frames.until('tool.call');
    const transform = await made(conversationId);
    expect((await api.playbook(transform.playbookId)).source.nodeId).toBe(turn.head);
    const { conversationId: edit } = await api.openEdit(transform.playbookId);
    finish();
    const ended = await api.ended(conversationId, turnId);
    expect(ended).toMatchObject({ status: 'completed', answer: 'done' });
    expect((await api.replay(ended.nodes[1] ?? '')).body).not.toContain('JSON Schema');
    const there = await api.ask(edit, say('there'));
    expect((await api.replay(there.nodes[0] ?? '')).body).not.toContain('MIDST');
  });

  it('is refused where nothing was said, and of another tenant’s conversation', async () => {
    const empty = await api.conversation();
    await expect(api.makePlaybook(empty)).rejects.toMatchObject({ status: 409, code: 'no_context' });
    const { conversationId } = await asked();
    const transform = await made(conversationId);
    const stranger = await deployment.client(process);
    await expect(stranger.makePlaybook(conversationId)).rejects.toMatchObject({ status: 404 });
    await expect(stranger.playbook(transform.playbookId)).rejects.toMatchObject({ status: 404 });
    await expect(stranger.openEdit(transform.playbookId)).rejects.toMatchObject({ status: 404 });
    await expect(stranger.addVersion(transform.playbookId, { playbook: {} })).rejects.toMatchObject({ status: 404 });
  });
});

describe('a playbook', () => {
  it('has versions, each judged as a draft is, and differences between them', async () => {
    const { conversationId } = await asked();
    const { playbookId, playbook } = await made(conversationId);
    const edited = { ...playbook, title: 'Better', checks: [] };
    const added = await api.addVersion(playbookId, { playbook: edited, basedOn: 1 }, 'v2');
    expect(added).toMatchObject({ playbookId, version: 2 });
    expect(await api.at(other).addVersion(playbookId, { playbook: edited, basedOn: 1 }, 'v2')).toEqual(added);
    expect(await api.playbook(playbookId)).toMatchObject({ version: 2, playbook: edited });
    expect(await api.playbook(playbookId, '?version=1')).toMatchObject({ version: 1, playbook });
    await expect(api.playbook(playbookId, '?version=3')).rejects.toMatchObject({ status: 404 });
    const { items } = await api.get<{ items: readonly unknown[] }>(`/v1/playbooks/${playbookId}/versions`);
    expect(items).toMatchObject([{ version: 1 }, { version: 2 }]);
    const { differences } = await api.get<{ differences: unknown }>(`/v1/playbooks/${playbookId}/diff?from=1&to=2`);
    expect(differences).toMatchObject([
      { op: 'changed', pointer: '/title', before: 'QUESTION', after: 'Better' },
      { op: 'removed', pointer: '/checks/0' },
    ]);

    const wrong = await api.send('POST', `/v1/playbooks/${playbookId}/versions`, {
      body: { playbook: { title: 'x' } },
    });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(wrong.body['errors']).toContain("The whole must have required property 'steps'.");
    const late = api.addVersion(playbookId, { playbook: edited, basedOn: 1 });
    await expect(late).rejects.toMatchObject({ status: 409, code: 'revision_conflict' });
  });

  it('goes with its subject’s key on every route; its source’s end alone leaves it', async () => {
    const { assistantId } = await api.assistant();
    const { conversationId } = await api.start({ assistantId, subjectId: 'ben@example.test' });
    await api.ask(conversationId, say('one'));
    const { playbookId } = await made(conversationId);
    const subjectId = (await system().identities.find(conversationId))?.subjectId ?? '';
    await api.remove(conversationId);
    expect(await api.playbook(playbookId)).toMatchObject({ version: 1 });
    await system().keys.destroy(subjectKeyId(subjectId));
    for (const path of ['', '/versions', '/diff?from=1&to=1'])
      expect((await api.send('GET', `/v1/playbooks/${playbookId}${path}`)).status).toBe(410);
    expect((await api.send('POST', `/v1/playbooks/${playbookId}/conversations`)).status).toBe(410);
  });
});

it('every shipped projection is what a rebuild makes of the log', async () => {
  expect(await deployment.faultsOfReadModels(process)).toEqual([]);
});
