import { migrations } from '@palimpsest/application';
import { createLogger, createPool, migrate, type Pool } from '@palimpsest/platform';
import { conversationTree, LiveTables, ProjectionLocks, Projector } from '@palimpsest/read-models';
import { until } from '../support/client';
import { requested } from '../support/client-requests';
import { createTestDatabase } from '../support/database';
import { eventsOf } from '../support/installation';
import { api, deployment, process, say } from '../support/one-process';

async function bodyOf(nodeId: string | undefined): Promise<string> {
  return (await api.replay(nodeId ?? '')).body;
}

/** Questions 1 to n, each answered "answer i". */
async function askAll(conversationId: string, count: number) {
  const turns = [];
  for (let at = 1; at <= count; at += 1)
    turns.push(await api.ask(conversationId, `question ${at} ${say(`answer ${at}`)}`));
  return turns;
}

describe('branches', () => {
  it('B01: of two regenerations one says X and one says Y; a turn after X sends no Y', async () => {
    let answers = 0;
    deployment.tools.behave(() => ({ text: ['the first', 'XXXX', 'YYYY'][answers++] ?? '' }));
    const conversationId = await api.conversation(['lookup']);
    const asked = await api.ask(conversationId, 'which? [[sim: call lookup {}]] [[sim: echo]]');
    const x = await api.regenerate(conversationId, asked.turnId);
    const y = await api.regenerate(conversationId, asked.turnId);
    expect([asked, x, y].map(({ answer }) => answer)).toEqual(['the first', 'XXXX', 'YYYY']);

    await api.switchTo(conversationId, x.nodes[0] ?? '');
    const next = await api.ask(conversationId, `go on ${say('fine')}`);

    const body = await bodyOf(next.nodes[0]);
    expect(body).toContain('XXXX');
    expect(body).not.toContain('YYYY');
    expect(body).not.toContain('the first');
  });

  it('B02: a branch from node 3 of 8 sends nothing of nodes 4 to 8', async () => {
    const conversationId = await api.conversation();
    const turns = await askAll(conversationId, 8);
    const branch = await api.edit(conversationId, turns[3]?.turnId ?? '', `another ${say('way')}`);

    const { questions, answers } = requested(await bodyOf(branch.nodes[0]));
    expect(answers).toEqual(['answer 1', 'answer 2', 'answer 3']);
    expect(questions.map((question) => question.split(' [[')[0])).toEqual([
      'question 1',
      'question 2',
      'question 3',
      'another',
    ]);
    const { bubbles } = await api.transcript(conversationId, branch.revision);
    expect(bubbles.map(({ text }) => text.split(' [[')[0])).not.toContain('question 5');
  });

  it('B04: editing question 2 of 6 leaves two leaves, and the old one can be resumed', async () => {
    const conversationId = await api.conversation();
    const turns = await askAll(conversationId, 6);
    const edited = await api.edit(conversationId, turns[1]?.turnId ?? '', `question two ${say('answer two')}`);

    const { nodes } = await api.tree(conversationId, edited.revision);
    const parents = new Set(nodes.map(({ parent }) => parent));
    const leaves = nodes.map(({ id }) => id).filter((id) => !parents.has(id));
    expect(leaves.sort()).toEqual([turns[5]?.head, edited.head].sort());

    const { head } = await api.switchTo(conversationId, turns[1]?.nodes[0] ?? '');
    expect(head).toBe(turns[5]?.head);
    const next = await api.ask(conversationId, `question 7 ${say('answer 7')}`);
    const { answers } = requested(await bodyOf(next.nodes[0]));
    expect(answers).toEqual([1, 2, 3, 4, 5, 6].map((at) => `answer ${at}`));

    const { bubbles } = await api.transcript(conversationId, next.revision);
    expect(bubbles[2]?.branch).toMatchObject({ index: 1, count: 2 });
    expect(bubbles[2]?.branch.siblings).toEqual([turns[1]?.nodes[0], edited.nodes[0]]);
  });

  it('B07: five failed regenerations in a row leave the head on a node that exists, and the conversation opens', async () => {
    const conversationId = await api.conversation();
    const asked = await api.ask(conversationId, 'hello [[sim: fail invalid_request]]');
    const failed = [asked];
    for (let again = 0; again < 5; again += 1) failed.push(await api.regenerate(conversationId, asked.turnId));
    expect(failed.map(({ status }) => status)).toEqual(Array(6).fill('failed'));

    const tree = await api.tree(conversationId, failed.at(-1)?.revision);
    expect(tree.nodes.map(({ id }) => id)).toContain(tree.head);
    expect((await api.transcript(conversationId)).bubbles).toMatchObject([
      { role: 'user', branch: { index: 6, count: 6 } },
      { role: 'assistant', status: 'failed', text: '' },
    ]);
    const next = await api.ask(conversationId, say('here'));
    expect(next).toMatchObject({ status: 'completed', answer: 'here' });
  });

  it('C11: after a regeneration the question is in the prompt once', async () => {
    const conversationId = await api.conversation();
    await api.ask(conversationId, `before ${say('ok')}`);
    const asked = await api.ask(conversationId, `only once ${say('first')}`);
    const again = await api.regenerate(conversationId, asked.turnId);
    const next = await api.ask(conversationId, `after ${say('last')}`);

    expect(requested(await bodyOf(again.nodes[0])).questions.map((text) => text.split(' [[')[0])).toEqual([
      'before',
      'only once',
    ]);
    expect((await bodyOf(next.nodes[0])).split('only once')).toHaveLength(2);
  });
});

describe('where a turn may start', () => {
  it('B05: under an unknown parent 404, under one that still streams 409, and nothing is written', async () => {
    const conversationId = await api.conversation();
    const first = await api.ask(conversationId, say('one'));
    const before = (await eventsOf(process, conversationId)).length;
    await expect(api.ask(conversationId, 'x', { parent: `${first.turnId}-9` })).rejects.toMatchObject({
      status: 404,
      code: 'unknown_parent',
    });
    await expect(api.ask(conversationId, 'x', { parent: 'no id at all' })).rejects.toMatchObject({
      status: 404,
      code: 'unknown_parent',
    });
    expect(await eventsOf(process, conversationId)).toHaveLength(before);

    const { turnId, frames } = await api.begin(conversationId, '[[sim: stall ms=60000 after=1]]');
    await frames.until('round.started');
    const running = (await eventsOf(process, conversationId)).length;
    await expect(api.ask(conversationId, 'x', { parent: `${turnId}-1` })).rejects.toMatchObject({
      status: 409,
      code: 'turn_running',
    });
    expect(await eventsOf(process, conversationId)).toHaveLength(running);
    await api.cancel(conversationId, turnId);
  });

  it('B12: a parent of another conversation, or of another tenant, is refused', async () => {
    const [mine, other] = [await api.conversation(), await api.conversation()];
    const stranger = await deployment.client(process);
    const theirs = await stranger.conversation();
    await api.ask(mine, say('mine'));
    const elsewhere = [await api.ask(other, say('other')), await stranger.ask(theirs, say('theirs'))];
    const before = (await eventsOf(process, mine)).length;
    for (const { head } of elsewhere) {
      await expect(api.ask(mine, 'x', { parent: head ?? '' })).rejects.toMatchObject({ code: 'unknown_parent' });
      await expect(api.switchTo(mine, head ?? '')).rejects.toMatchObject({ status: 404, code: 'not_found' });
    }
    for (const { turnId } of elsewhere)
      await expect(api.edit(mine, turnId, 'x')).rejects.toMatchObject({ status: 404, code: 'not_found' });
    expect(await eventsOf(process, mine)).toHaveLength(before);
  });

  it('C12: a client that posts under a head that is no longer the head is refused, and the tree does not grow by copies', async () => {
    const conversationId = await api.conversation();
    const turns = await askAll(conversationId, 3);
    // The whole history again, turn by turn, as the client had it: the first under no parent, each of the others under the one before.
    for (const [at, { head }] of turns.slice(0, 2).entries())
      await expect(api.ask(conversationId, `question ${at + 2}`, { parent: head ?? '' })).rejects.toMatchObject({
        status: 409,
        code: 'revision_conflict',
      });
    const history = { text: 'x', messages: [{ role: 'user', content: 'question 1' }] };
    const reply = await api.send('POST', `/v1/conversations/${conversationId}/turns`, { body: history });
    expect(reply).toMatchObject({ status: 400, body: { code: 'validation_failed' } });

    const next = await api.ask(conversationId, `question 4 ${say('answer 4')}`, { parent: turns[2]?.head ?? '' });
    expect((await api.tree(conversationId, next.revision)).nodes).toHaveLength(4);
    expect(requested(await bodyOf(next.nodes[0])).questions).toHaveLength(4);
  });

  it('refuses an edit, a regeneration, a switch and a second question while a turn runs', async () => {
    const conversationId = await api.conversation();
    const first = await api.ask(conversationId, say('one'));
    const { turnId, frames } = await api.begin(conversationId, '[[sim: stall ms=60000 after=1]]');
    await frames.until('round.started');
    const refusal = { status: 409, code: 'turn_running' };
    await expect(api.ask(conversationId, 'x')).rejects.toMatchObject(refusal);
    await expect(api.edit(conversationId, first.turnId, 'x')).rejects.toMatchObject(refusal);
    await expect(api.regenerate(conversationId, first.turnId)).rejects.toMatchObject(refusal);
    await expect(api.switchTo(conversationId, first.nodes[0] ?? '')).rejects.toMatchObject(refusal);
    await api.cancel(conversationId, turnId);
    expect(await api.ask(conversationId, say('again'))).toMatchObject({ status: 'completed', answer: 'again' });
  });
});

describe('the log and the tree', () => {
  it('B16: what is no message breaks no chain, and every parent stands in the log before its child', async () => {
    const conversationId = await api.conversation(['lookup']);
    const [one, two] = [
      await api.ask(conversationId, '[[sim: rounds=2 tool=lookup args={}]] [[sim: say one]]'),
      await api.ask(conversationId, '[[sim: fail overloaded times=1 retry_after_ms=1]] [[sim: say two]]'),
    ];
    await api.switchTo(conversationId, one.nodes[0] ?? '');
    await api.edit(conversationId, two.turnId, say('three'));

    const known = new Set<string>();
    let requests = 0;
    for (const event of await eventsOf(process, conversationId)) {
      if (event.type !== 'CallRequested') continue;
      requests += 1;
      if (event.data.parent !== null) expect(known).toContain(event.data.parent);
      known.add(event.data.nodeId);
    }
    expect(requests).toBe(5);
    for (const node of known) expect((await api.replay(node)).verified).toBe(true);
  });

  it('I01: events of one millisecond stand in the order of the stream, and so do the bubbles', async () => {
    const conversationId = await api.conversation();
    const turns = await askAll(conversationId, 3);
    const events = await eventsOf(process, conversationId);
    expect(events.map(({ revision }) => revision)).toEqual(events.map((_, at) => BigInt(at)));
    expect(events.every(({ position }, at) => at === 0 || position > (events[at - 1]?.position ?? 0n))).toBe(true);
    const sameInstant = events.filter(({ meta }, at) => at > 0 && meta.occurredAt === events[at - 1]?.meta.occurredAt);
    expect(sameInstant.length).toBeGreaterThan(0);
    const { bubbles } = await api.transcript(conversationId, turns[2]?.revision);
    const answers = bubbles.filter(({ role }) => role === 'assistant').map(({ text }) => text);
    expect(answers).toEqual(['answer 1', 'answer 2', 'answer 3']);
  });

  it('B06: rebuilt from the log alone, in another database, the tree is the same, row by row', async () => {
    const { store } = process.installation.running.system;
    const log = createLogger('silent');
    const target = await createTestDatabase();
    const pool = createPool({ url: target.url, applicationName: 'rebuild', log, max: 2 });
    try {
      await migrate(pool, migrations);
      const locks = new ProjectionLocks(pool, 'rebuild');
      const projector = new Projector({
        ...{ pool, store, locks, projection: conversationTree },
        onError: (error) => expect(error).toBeUndefined(),
      });
      const end = await store.lastPosition();
      projector.start();
      await until(() => projector.position >= end);
      await projector.stop();
      await locks.close();
      await until(() => process.installation.running.system.projector.position >= end);

      for (const table of ['conversations_v1', 'turns_v1', 'nodes_v1', 'tool_calls_v1']) {
        const rows = `select to_jsonb(t)::text as row from read.${table} as t order by 1`;
        const of = (database: Pool) => new LiveTables(database, conversationTree).query(rows);
        const [live, rebuilt] = [await of(deployment.pool), await of(pool)];
        expect(rebuilt.rows.length).toBeGreaterThan(0);
        expect(rebuilt.rows).toEqual(live.rows);
      }
      const { rows } = await pool.query(
        `select table_name, column_name from information_schema.columns where table_schema like 'read%' and column_name like '%child%'`,
      );
      expect(rows).toEqual([]);
    } finally {
      await pool.end();
      await target.drop();
    }
  });
});

it('every shipped projection is what a rebuild makes of the log', async () => {
  expect(await deployment.faultsOfReadModels(process)).toEqual([]);
});
