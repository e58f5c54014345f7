import { verifyLog } from '@palimpsest/audit';
import { Sealed } from '@palimpsest/event-store';
import { randomBytes, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Client, until } from '../support/client';
import { requested } from '../support/client-requests';
import { Deployment, eventsOf, type InnerProcess } from '../support/installation';
import { examplesFolder } from '../support/shipped-projections';
import { isOnEventStoreDb } from '../support/test-log';

let deployment: Deployment;
let process: InnerProcess;
let other: InnerProcess;
let api: Client;

beforeAll(async () => {
  deployment = await Deployment.open({ PALIMPSEST_PROJECTIONS_DIR: examplesFolder });
  [process, other] = [await deployment.start(), await deployment.start()];
  api = await deployment.client(process);
});
beforeEach(() => deployment.tools.behave());
afterAll(() => deployment.close());

const say = (text: string) => `[[sim: say ${text}]]`;
const system = () => process.installation.running.system;

/** As the edit conversation of a playbook does, before it begins. */
async function attach(source: string, conversationId: string): Promise<void> {
  const identity = await system().identities.find(source);
  if (!identity) throw new Error('There is no such conversation.');
  const context = { actor: 'test', correlationId: randomUUID() };
  const { state } = await system().writer.read(source, identity.tenantId);
  const nodeId = (state.status === 'active' && state.head) || '';
  const result = await system().writer.handle(identity, { type: 'AttachDependent', conversationId, nodeId }, context);
  expect(result).toMatchObject({ ok: true });
}

describe('a conversation as it was', () => {
  const at = (conversationId: string, what: string) => `/v1/conversations/${conversationId}/${what}`;
  const withoutAsOf = ({ asOf: _, ...answer }: { readonly asOf?: unknown }) => answer;

  it('gives at a revision, a position and an instant what was given live then, also from before a clear', async () => {
    const state = { fields: [{ name: 'budget', type: 'money', kind: 'constraint' }] };
    const conversationId = await api.conversation(['lookup'], { state });
    const live = async ({ revision, position }: { readonly revision: string; readonly position: string }) => {
      const [tree, transcript, values] = await Promise.all(
        ['tree', 'transcript', 'state'].map((what) => api.get(at(conversationId, `${what}?minRevision=${revision}`))),
      );
      return { revision, position, instant: new Date().toISOString(), answers: { tree, transcript, values } };
    };
    const apart = () => new Promise((resolve) => setTimeout(resolve, 2));
    const moments = [];
    const asked = await api.ask(conversationId, `one [[sim: call lookup {}]] ${say('first')}`);
    moments.push(await live(asked));
    await apart();
    moments.push(await live(await api.say(conversationId, { field: 'budget', value: 10_000 })));
    await apart();
    moments.push(await live(await api.edit(conversationId, asked.turnId, `two ${say('second')}`)));
    await apart();
    moments.push(await live(await api.switchTo(conversationId, asked.nodes[1] ?? '')));
    await apart();
    moments.push(await live(await api.clear(conversationId)));

    for (const { revision, position, instant, answers } of moments)
      for (const asOf of [revision, `revision:${revision}`, `position:${position}`, instant]) {
        const [tree, transcript, values] = await Promise.all(
          ['tree', 'transcript', 'state'].map(async (what) => withoutAsOf(await api.get(at(conversationId, `${what}?asOf=${asOf}`)))), // prettier-ignore
        );
        expect({ asOf, tree, transcript, values }).toEqual({ asOf, ...answers });
      }
    // In the midst of a turn: its first call is out.
    const midst = await api.get(at(conversationId, 'tree?asOf=2'));
    expect(midst).toMatchObject({ head: null, revision: '2', nodes: [{ status: 'pending' }], asOf: { revision: '2' } });
    expect(await api.get(at(conversationId, 'transcript?asOf=9999'))).toMatchObject({
      ...{ head: null, bubbles: [] },
      asOf: { revision: moments.at(-1)?.revision, position: moments.at(-1)?.position },
    });
    expect(await api.get(at(conversationId, `state?asOf=${moments[2]?.revision}&at=${asked.nodes[1]}`))).toMatchObject({
      fields: [{ field: 'budget', value: 10_000 }],
    });
  });

  it('is 404 before_start before there was one, 404 at a node that was yet to come, and 400 where it makes no sense', async () => {
    const { position } = await api.start({ assistantId: (await api.assistant()).assistantId });
    const conversationId = await api.conversation();
    const { nodes } = await api.ask(conversationId, say('hello'));
    const code = async (query: string) => (await api.send('GET', at(conversationId, query))).body['code'];
    for (const what of ['tree', 'transcript', 'state'])
      for (const asOf of [`position:${position}`, '2020-01-01T00:00:00Z'])
        expect(await code(`${what}?asOf=${asOf}`)).toBe('before_start');
    const early = async (node?: string) => (await api.send('GET', at(conversationId, `state?asOf=1&at=${node}`))).body;
    expect(await early(nodes[0])).toMatchObject({
      code: 'not_found',
      detail: expect.stringMatching(/^The node was not there yet/),
    });
    expect(await early(`${nodes[0]}9`)).toMatchObject({ code: 'not_found', detail: 'There is no such node.' });
    for (const asOf of [
      'yesterday',
      '-1',
      'revision:',
      'node:1',
      '2026-11-30',
      '2026-11-30T10:00:00',
      '1&minRevision=1',
    ])
      expect(await code(`tree?asOf=${asOf}`)).toBe('validation_failed');
    const stranger = await deployment.client(process);
    expect((await stranger.send('GET', at(conversationId, 'tree?asOf=1'))).status).toBe(404);
  });
});

describe('a clear', () => {
  it('takes transcript and head in one event; the next request sends nothing of before', async () => {
    const conversationId = await api.conversation();
    const first = await api.ask(conversationId, `remember BEFORE ${say('answer BEFORE')}`);
    const cleared = await api.clear(conversationId);

    expect(cleared).toMatchObject({ conversationId, head: null, epoch: 1 });
    const { revision } = cleared;
    expect(await api.transcript(conversationId, revision)).toEqual({ head: null, bubbles: [] });
    expect(await api.tree(conversationId)).toMatchObject({ head: null, epoch: 1, nodes: [{ epoch: 0 }] });
    expect(await api.turn(conversationId, first.turnId)).toMatchObject({ status: 'completed', head: first.head });

    const next = await api.ask(conversationId, `and now ${say('after')}`);
    expect(requested((await api.replay(next.nodes[0] ?? '')).body).questions).toHaveLength(1);
    expect((await api.replay(next.nodes[0] ?? '')).body).not.toContain('BEFORE');
    const { bubbles } = await api.transcript(conversationId, next.revision);
    expect(bubbles.map(({ branch }) => branch)).toEqual(
      Array(2).fill({ index: 1, count: 1, siblings: [next.nodes[0]] }),
    );
    expect((await api.tree(conversationId)).nodes.map(({ epoch, parent }) => ({ epoch, parent }))).toEqual([
      { epoch: 0, parent: null },
      { epoch: 1, parent: null },
    ]);
    expect(await api.replay(first.nodes[0] ?? '')).toMatchObject({ verified: true });
  });

  it('leaves nothing to switch to, edit or regenerate: 409 cleared', async () => {
    const conversationId = await api.conversation();
    const first = await api.ask(conversationId, say('one'));
    await api.clear(conversationId);
    const cleared = { status: 409, code: 'cleared' };
    await expect(api.switchTo(conversationId, first.nodes[0] ?? '')).rejects.toMatchObject(cleared);
    await expect(api.edit(conversationId, first.turnId, 'x')).rejects.toMatchObject(cleared);
    await expect(api.regenerate(conversationId, first.turnId)).rejects.toMatchObject(cleared);
    const parent = first.head ?? '';
    await expect(api.ask(conversationId, 'x', { parent })).rejects.toMatchObject({ code: 'revision_conflict' });
    const failed = await api.ask(conversationId, '[[sim: fail context_overflow]]');
    expect(failed).toMatchObject({ status: 'failed', head: null });
  });

  it('has its effect once under one key, at any process, and none where all is clear', async () => {
    const conversationId = await api.conversation();
    await api.ask(conversationId, say('one'));
    const cleared = await api.clear(conversationId, 'once');
    await api.ask(conversationId, say('two'));
    expect(await api.at(other).clear(conversationId, 'once')).toEqual(cleared);
    expect((await eventsOf(process, conversationId)).filter(({ type }) => type === 'ConversationCleared')).toHaveLength(
      1,
    );

    const again = await api.clear(conversationId);
    expect(again).toMatchObject({ epoch: 2 });
    expect(await api.clear(conversationId)).toEqual(again);
    await expect(api.at(other).switchTo(conversationId, `${randomUUID()}-1`)).rejects.toMatchObject({ status: 404 });
  });

  it('is refused while a turn runs, waits for a person or is queued; so is a delete', async () => {
    const running = { status: 409, code: 'turn_running' };
    const conversationId = await api.conversation(['pay'], {}, { whenBusy: 'queue' });
    const { turnId, frames } = await api.begin(conversationId, '[[sim: stall ms=60000 after=1]]');
    await frames.until('round.started');
    await expect(api.clear(conversationId)).rejects.toMatchObject(running);
    await expect(api.remove(conversationId)).rejects.toMatchObject(running);
    await api.cancel(conversationId, turnId);

    const waiting = await api.ask(conversationId, '[[sim: call pay {"eur":1}]]');
    expect(waiting).toMatchObject({ status: 'awaiting_approval' });
    await expect(api.clear(conversationId)).rejects.toMatchObject(running);
    await expect(api.remove(conversationId)).rejects.toMatchObject(running);
    await api.cancel(conversationId, waiting.turnId);
    await expect(api.clear(conversationId)).resolves.toMatchObject({ epoch: 1 });
    await expect(api.remove(conversationId)).resolves.toMatchObject({ conversationId });
  });
});

describe('a delete', () => {
  /** Words that stand nowhere else, in a question, an answer, a tool's result and a branch. */
  async function secretConversation() {
    const canary = (what: string) => `canary-${what}-${randomBytes(8).toString('hex')}`;
    const words = {
      question: canary('question'),
      answer: canary('answer'),
      result: canary('result'),
      branch: canary('branch'),
    };
    deployment.tools.behave(() => ({ text: words.result }));
    const conversationId = await api.conversation(['lookup']);
    const turn = await api.ask(conversationId, `${words.question} [[sim: call lookup {}]] ${say(words.answer)}`);
    const edited = await api.edit(conversationId, turn.turnId, `${words.branch} ${say('other')}`);
    // Long enough for a snapshot.
    const keys = await system().keys.forConversation(conversationId);
    const place = { stream: `conversation-${conversationId}`, id: '2@0', type: 'snapshot', field: 'state' };
    await deployment.pool.query('insert into read.snapshots values ($1::text, 2, 0, $2::text)', [
      place.stream,
      await keys.seal(place, { words: Object.values(words) }),
    ]);
    return { conversationId, turn, edited, words: Object.values(words), nodes: [...turn.nodes, ...edited.nodes] };
  }

  const routes = (conversationId: string, turnId: string) =>
    [
      ['GET', ''],
      ['GET', '/transcript'],
      ['GET', '/transcript?format=markdown'],
      ['GET', '/tree'],
      ['GET', '/transcript?asOf=3'],
      ['GET', '/tree?asOf=position:0'],
      ['GET', '/state?asOf=2026-01-01T00:00:00Z'],
      ['GET', '/usage'],
      ['GET', `/turns/${turnId}`],
      ['GET', `/turns/${turnId}/events`],
      ['POST', '/turns'],
      ['POST', `/turns/${turnId}/edit`],
      ['POST', `/turns/${turnId}/regenerate`],
      ['POST', `/turns/${turnId}/cancel`],
      ['POST', '/clear'],
      ['PUT', '/head'],
    ].map(([method = '', path = '']) => ({ method, path: `/v1/conversations/${conversationId}${path}` }));

  it('G03: leaves nothing that the installation could read again: no route, no row, no key, no memory; and the log verifies', async () => {
    const { conversationId, turn, words, nodes } = await secretConversation();
    await api.at(other).transcript(conversationId);
    const stream = `conversation-${conversationId}`;
    const deleted = await api.remove(conversationId);

    expect(deleted).toMatchObject({ conversationId, pending: ['write_ahead_log', 'backups'] });
    const client = api.at(other);
    await until(async () => (await client.send('GET', `/v1/conversations/${conversationId}`)).status === 410);
    for (const at of [api, client]) {
      for (const { method, path } of routes(conversationId, turn.turnId)) {
        const body = method === 'GET' || /cancel|regenerate|clear/.test(path) ? undefined : path.endsWith('head') ? { nodeId: nodes[0] } : { text: 'x' }; // prettier-ignore
        const reply = await at.send(method, path, { body });
        expect([method, path, reply.status, reply.body['code']]).toEqual([method, path, 410, 'sealed']);
        for (const word of words) expect(reply.text).not.toContain(word);
      }
      const page = await at.conversations(`?limit=200&minPosition=${deleted.position}`);
      expect(page.items.map((item) => item.conversationId)).not.toContain(conversationId);
      for (const node of nodes) {
        expect((await at.send('GET', `/v1/nodes/${node}`)).status).toBe(404);
        expect((await at.send('GET', `/v1/nodes/${node}/replay`)).status).toBe(404);
      }
    }
    const stranger = await deployment.client(process);
    expect((await stranger.send('GET', `/v1/conversations/${conversationId}`)).status).toBe(404);
    expect((await stranger.send('DELETE', `/v1/conversations/${conversationId}`)).status).toBe(404);

    for (const { installation } of [process, other]) {
      const { keys, log, writer } = installation.running.system;
      expect(await keys.state(stream)).toBe('destroyed');
      // Each process hears of it by the log, and forgets the key at its own time.
      const reading = async () => log.after(conversationId, -1n).catch((error: unknown) => error);
      await until(async () => (await reading()) instanceof Sealed);
      await until(() => writer.known(conversationId) === undefined);
    }
    // Routing in the log, which does not change, and the marks of the key that was.
    const ofTheLog = isOnEventStoreDb ? [] : ['event_log.events', 'event_log.streams'];
    const left = [...ofTheLog, 'ops.key_destructions', 'ops.keys'];
    // Each projection, and whoever notes destroyed keys, follows the log by itself.
    await until(async () => isDeepStrictEqual(await tablesThatHold([conversationId, turn.turnId, ...nodes]), left));
    expect(await tablesThatHold(words)).toEqual([]);
    for (const { log } of [process, other]) for (const word of words) expect(log.join('\n')).not.toContain(word);

    const { store, codec, log } = system();
    const report = await verifyLog({ store, content: { codec, log }, densePositions: !isOnEventStoreDb });
    expect(report).toMatchObject({ ok: true, keyLost: 0 });
    expect(report.sealed).toBeGreaterThan(5);
    expect(await deployment.faultsOfReadModels(process)).toEqual([]);
  });

  it('is answered the same a second time, at any process, and by a key of the conversation nothing goes on', async () => {
    const { conversationId } = await secretConversation();
    const deleted = await api.remove(conversationId);
    expect(await api.remove(conversationId)).toEqual(deleted);
    expect(await api.at(other).remove(conversationId, '?cascade=true')).toEqual(deleted);
    await expect(api.remove(randomUUID())).rejects.toMatchObject({ status: 404, code: 'not_found' });
    await expect(api.remove(conversationId, '?cascade=yes')).rejects.toMatchObject({ status: 400 });
  });

  it('is finished by whoever is asked again, or starts, where the process died behind the event', async () => {
    const { conversationId } = await secretConversation();
    const stream = `conversation-${conversationId}`;
    const identity = await system().identities.find(conversationId);
    if (!identity) throw new Error('There is no such conversation.');
    const command = { type: 'DeleteConversation', keyId: stream, deletedDependents: [] } as const;
    await system().writer.handle(identity, command, { actor: 'test', correlationId: randomUUID() });
    // Every process hears of it.
    await until(async () => (await system().keys.state(stream)) === 'destroyed');
    await until(async () => (await deployment.pool.query('select from read.snapshots where stream = $1::text', [stream])).rowCount === 0); // prettier-ignore
    await until(async () => (await api.send('GET', `/v1/conversations/${conversationId}`)).status === 410);
  });

  it('of a conversation that others grow from is refused with the list; with cascade they go too, and first', async () => {
    const [source, middle, leaf, unborn] = [
      await api.conversation(),
      await api.conversation(),
      await api.conversation(),
      randomUUID(),
    ];
    const asked = new Map<string, string>();
    for (const id of [source, middle, leaf]) asked.set(id, (await api.ask(id, say('here'))).revision);
    await attach(source, middle);
    await attach(middle, leaf);
    await attach(source, unborn);

    const refused = await api.send('DELETE', `/v1/conversations/${source}`);
    expect(refused).toMatchObject({ status: 409, body: { code: 'has_dependents', conversationIds: [middle, unborn] } });
    expect(await api.transcript(leaf, asked.get(leaf))).toMatchObject({ bubbles: [{}, {}] });

    const { turnId, frames } = await api.begin(leaf, '[[sim: stall ms=60000 after=1]]');
    await frames.until('round.started');
    const busy = await api.send('DELETE', `/v1/conversations/${source}?cascade=true`);
    expect(busy).toMatchObject({ status: 409, body: { code: 'turn_running', conversationId: leaf, turnId } });
    for (const id of [source, middle]) expect((await api.send('GET', `/v1/conversations/${id}`)).status).toBe(200);
    await api.cancel(leaf, turnId);

    await api.remove(source, '?cascade=true');
    for (const id of [source, middle, leaf]) {
      expect((await api.send('GET', `/v1/conversations/${id}`)).status).toBe(410);
      expect(await system().keys.state(`conversation-${id}`)).toBe('destroyed');
    }
    const positions = await Promise.all([leaf, middle, source].map(async (id) => (await api.remove(id)).position));
    expect(positions.map(BigInt)).toEqual([...positions.map(BigInt)].sort((a, b) => (a < b ? -1 : 1)));
    // The one that had not begun never will.
    const events: string[] = [];
    for await (const { type } of system().store.readStream(`conversation-${unborn}`)) events.push(type);
    expect(events).toEqual(['ConversationDeleted', 'KeyDestroyed']);
    await expect(system().keys.forConversation(unborn)).rejects.toThrow(Sealed);
  });

  it('while a summary or a playbook is made of it tells whoever waits for that, at once', async () => {
    for (const path of ['compactions', 'playbooks']) {
      const id = await api.conversation();
      await api.ask(id, say('here'));
      const held = deployment.requests.hold();
      const made = api.send('POST', `/v1/conversations/${id}/${path}`, { body: {} });
      const out = async () =>
        (await api.tree(id)).nodes.some(({ kind, status }) => kind !== 'turn' && status === 'pending');
      await until(out);
      await api.remove(id);
      held.open();
      expect(await made).toMatchObject({ status: 410, body: { code: 'sealed' } });
    }
  });

  it('of those that grow from it one by one, leaves nothing in the way', async () => {
    const [source, grown] = [await api.conversation(), await api.conversation()];
    await api.ask(source, say('here'));
    await attach(source, grown);
    await api.remove(grown);
    await expect(api.remove(source)).resolves.toMatchObject({ conversationId: source });
  });
});

/** Tables of which a row holds one of these texts anywhere, in a text or in bytes. */
async function tablesThatHold(texts: readonly string[]): Promise<string[]> {
  const { rows: tables } = await deployment.pool.query<{ name: string; bytes: readonly string[] }>(
    `select table_schema || '.' || table_name as name,
       coalesce(array_agg(column_name::text) filter (where data_type = 'bytea'), '{}') as bytes
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE' group by 1`,
  );
  const found: string[] = [];
  for (const { name, bytes } of tables) {
    const inBytes = bytes.map((column) => ` or position(convert_to(w, 'UTF8') in t.${column}) > 0`).join('');
    const { rowCount } = await deployment.pool.query(
      `select from ${name} t where exists
         (select from unnest($1::text[]) w where to_jsonb(t)::text like '%' || w || '%'${inBytes}) limit 1`,
      [texts],
    );
    if (rowCount) found.push(name);
  }
  return found.sort();
}
