import { approvals, LiveTables } from '@palimpsest/read-models';
import { type Approval, type Client, type Turn, until } from '../support/client';
import { requested } from '../support/client-requests';
import { Deployment, eventsOf, type InnerProcess, type Process } from '../support/installation';

let deployment: Deployment;
let one: InnerProcess;
let two: Process;
let api: Client;
let there: Client;

beforeAll(async () => {
  deployment = await Deployment.open();
  one = await deployment.start();
  two = await deployment.startBeside();
});
beforeEach(async () => {
  deployment.tools.behave();
  api = await deployment.client(one);
  there = api.at(two);
});
afterAll(() => deployment.close());

const pay = (amount: string) => `[[sim: call pay ${amount}]] [[sim: echo]]`;

/** What the model was told of each tool call, in the request of a turn's node. */
async function resultsIn(turn: Turn, node = -1): Promise<readonly string[]> {
  const { body } = await api.replay(turn.nodes.at(node) ?? '');
  return requested(body).results.map(({ text }) => text);
}

/** The inbox, when it has everything up to this turn. */
async function inbox(turn: Turn, client = api): Promise<readonly Approval[]> {
  return (await client.approvals(`?minPosition=${turn.position}`)).items;
}

async function waiting(question: string, tools: readonly string[] = ['pay', 'lookup']) {
  const conversationId = await api.conversation(tools);
  const turn = await api.ask(conversationId, question);
  expect(turn).toMatchObject({ status: 'awaiting_approval', answer: null });
  const items = (await inbox(turn)).filter(({ turnId }) => turnId === turn.turnId);
  const [item] = items;
  if (!item) throw new Error('Nothing waits.');
  return { conversationId, turn, items, item, digest: item.argumentsDigest, toolCallId: item.toolCallId };
}

const typesOf = async (conversationId: string, process = one) =>
  (await eventsOf(process, conversationId)).map(({ type }) => type);

describe('a write that a person has to approve', () => {
  it('waits, is listed with the arguments that will run, and once approved runs exactly once with exactly those', async () => {
    // Parsing and printing would change each of these.
    const raw = '{"amount": 12345678901234567890, "2": "b", "1": "a",  "to": "\\u00e9"}';
    const { conversationId, turn, items, item } = await waiting(pay(raw));

    const nodeId = `${turn.turnId}-1`;
    expect(items).toEqual([
      {
        ...{ conversationId, turnId: turn.turnId, nodeId, toolCallId: `${nodeId}-0`, tool: 'pay', effect: 'write' },
        ...{ arguments: raw, argumentsDigest: expect.stringMatching(/^\S+$/), expiresAt: expect.any(String) },
        requestedPosition: expect.stringMatching(/^\d+$/),
      },
    ]);
    expect(Date.parse(item.expiresAt)).toBeGreaterThan(Date.now());
    expect(deployment.tools.effectsOf(item.toolCallId)).toBe(0);

    const done = await api.decide(conversationId, item.toolCallId, 'approve', item.argumentsDigest);
    expect(done).toMatchObject({ turnId: turn.turnId, status: 'completed' });
    const runs = deployment.tools.runs.filter(({ toolCallId }) => toolCallId === item.toolCallId);
    expect(runs.map(({ raw: body }) => body)).toEqual([`{"toolCallId":"${item.toolCallId}","arguments":${raw}}`]);
    expect(await inbox(done)).toEqual([]);
  });

  it('tells whoever reads along what is asked of a person', async () => {
    const conversationId = await api.conversation(['pay']);
    const { turnId, frames } = await api.begin(conversationId, pay('{"n":1}'));
    const asked = (await frames.until('approval.requested')).at(-1)?.data;
    expect(asked).toMatchObject({ toolCallId: `${turnId}-1-0`, name: 'pay', arguments: '{"n":1}' });
    const deciding = api.decide(conversationId, asked.toolCallId, 'approve', asked.argumentsDigest);
    const rest = await frames.rest();
    expect(rest.map(({ event }) => event)).toEqual(expect.arrayContaining(['tool.result', 'turn.finished']));
    expect(rest.at(-1)?.data).toEqual(await deciding);
  });

  it('T05: what waits is not broken: read calls of the same answer run, and the later decision is honoured', async () => {
    const question = '[[sim: call lookup {"n":1}]] [[sim: call pay {"n":2}]] [[sim: echo]]';
    const { conversationId, turn, item } = await waiting(question);
    expect(item.toolCallId).toBe(`${turn.turnId}-1-1`);
    expect(deployment.tools.effectsOf(`${turn.turnId}-1-0`)).toBe(1);

    // Other processes look for broken turns all the while.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await typesOf(conversationId)).not.toContain('TurnTakenOver');
    const done = await api.decide(conversationId, item.toolCallId, 'approve', item.argumentsDigest);
    expect(done).toMatchObject({ status: 'completed', answer: 'lookup {"n":1}\npay {"n":2}' });
    expect(await resultsIn(done)).toEqual(['lookup {"n":1}', 'pay {"n":2}']);
    expect(deployment.tools.effectsOf(`${turn.turnId}-1-0`)).toBe(1);
  });

  it('V01: approved with the digest of other arguments it is refused, and waits on', async () => {
    const question = '[[sim: call pay {"amount":1}]] [[sim: call pay {"amount":2}]] [[sim: echo]]';
    const { conversationId, turn, items } = await waiting(question);
    const [first, second] = items;
    if (!first || !second) throw new Error('Two wait.');
    expect(first.argumentsDigest).not.toBe(second.argumentsDigest);
    const refused = await api
      .decide(conversationId, first.toolCallId, 'approve', second.argumentsDigest)
      .catch((error: unknown) => error);
    const { argumentsDigest } = first;
    expect(refused).toMatchObject({ status: 409, code: 'approval_mismatch', reply: { body: { argumentsDigest } } });
    expect(await api.turn(conversationId, turn.turnId)).toMatchObject({ status: 'awaiting_approval' });
    expect(deployment.tools.effectsOf(first.toolCallId)).toBe(0);

    await api.decide(conversationId, first.toolCallId, 'approve', argumentsDigest);
    const done = await api.decide(conversationId, second.toolCallId, 'approve', second.argumentsDigest);
    expect(done).toMatchObject({ status: 'completed', answer: 'pay {"amount":1}\npay {"amount":2}' });
  });

  it('V02: the same approval twice, at two processes at once, is one run; a later rejection is refused', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { conversationId, toolCallId, digest, turn } = await waiting(pay('{"n":1}'));
      const decided = await Promise.allSettled([
        api.decide(conversationId, toolCallId, 'approve', digest),
        there.decide(conversationId, toolCallId, 'approve', digest),
        api.decide(conversationId, toolCallId, 'approve', digest, `key-${round}`),
        there.decide(conversationId, toolCallId, 'approve', digest, `key-${round}`),
      ]);
      const losers = decided.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
      for (const loser of losers) expect(loser).toMatchObject({ status: 409, code: 'already_decided' });
      expect(decided.length - losers.length).toBeGreaterThan(0);
      expect(await api.ended(conversationId, turn.turnId)).toMatchObject({ status: 'completed' });
      expect(deployment.tools.effectsOf(toolCallId)).toBe(1);

      const rejected = await there
        .decide(conversationId, toolCallId, 'reject', digest)
        .catch((error: unknown) => error);
      expect(rejected).toMatchObject({
        status: 409,
        code: 'already_decided',
        reply: { body: { decision: 'approve' } },
      });
    }
  });

  it('V02: the same approval under the same key gives the same answer, later and elsewhere', async () => {
    const { conversationId, toolCallId, digest } = await waiting(pay('{"n":1}'));
    const first = await api.decide(conversationId, toolCallId, 'approve', digest, 'once');
    await api.ask(conversationId, 'and then? [[sim: say more]]');
    expect(await there.decide(conversationId, toolCallId, 'approve', digest, 'once')).toEqual(first);
    expect(deployment.tools.effectsOf(toolCallId)).toBe(1);
  });

  it('V05: a new message while it waits is told why it can’t be taken, and the approval stays', async () => {
    const { conversationId, toolCallId, digest, turn } = await waiting(pay('{"n":1}'));
    for (const client of [api, there]) {
      const refused = await client.ask(conversationId, 'meanwhile').catch((error: unknown) => error);
      expect(refused).toMatchObject({ status: 409, code: 'turn_running', reply: { body: { turnId: turn.turnId } } });
      expect((refused as Error).message).toContain('approval');
    }
    expect((await inbox(turn)).map((item) => item.toolCallId)).toEqual([toolCallId]);
    expect(await api.decide(conversationId, toolCallId, 'approve', digest)).toMatchObject({ status: 'completed' });
  });

  it('rejected, it does not run, and the model reads that a person refused', async () => {
    const { conversationId, toolCallId, digest } = await waiting(pay('{"n":1}'));
    const done = await api.decide(conversationId, toolCallId, 'reject', digest);
    expect(done.status).toBe('completed');
    expect(done.answer).toMatch(/person refused/);
    expect(await resultsIn(done)).toEqual([expect.stringMatching(/Rejected: a person refused.*did not run/)]);
    expect((await api.node(done.nodes[1] ?? '')).sent).toMatchObject([{ type: 'tool_result', synthetic: 'rejected' }]);
    expect(deployment.tools.effectsOf(toolCallId)).toBe(0);
    expect(await inbox(done)).toEqual([]);
  });

  it('C08: cancelled while it waits, the approval is closed with the turn, and can’t be given any more', async () => {
    const { conversationId, toolCallId, digest, turn } = await waiting(pay('{"n":1}'));
    const cancelled = await there.cancel(conversationId, turn.turnId);
    expect(cancelled).toMatchObject({ status: 'cancelled', answer: null });
    expect(await inbox(cancelled)).toEqual([]);
    const late = await api.decide(conversationId, toolCallId, 'approve', digest).catch((error: unknown) => error);
    expect(late).toMatchObject({
      status: 409,
      code: 'already_decided',
      reply: {
        body: { decision: 'cancelled', detail: expect.stringContaining('turn of this tool call was cancelled') },
      },
    });

    const next = await api.ask(conversationId, 'go on [[sim: say on]]');
    expect(next).toMatchObject({ status: 'completed', answer: 'on' });
    expect(await resultsIn(next)).toEqual([expect.stringMatching(/Not started/)]);
    expect(deployment.tools.effectsOf(toolCallId)).toBe(0);
  });

  it('several of one answer are decided one by one; the turn goes on after the last', async () => {
    const question = '[[sim: parallel=3 tool=pay args={"n":1}]] [[sim: echo]]';
    const { conversationId, items, turn } = await waiting(question);
    expect(items.map(({ toolCallId }) => toolCallId)).toEqual([0, 1, 2].map((n) => `${turn.turnId}-1-${n}`));
    const decide = (at: number, decision: string, client = api) =>
      client.decide(conversationId, items[at]?.toolCallId ?? '', decision, items[at]?.argumentsDigest ?? '');
    expect(await decide(1, 'reject', there)).toMatchObject({ status: 'awaiting_approval' });
    expect(await decide(2, 'approve')).toMatchObject({ status: 'awaiting_approval' });
    const done = await decide(0, 'approve', there);
    expect(done.status).toBe('completed');
    expect(await resultsIn(done)).toEqual(['pay {"n":1}', expect.stringMatching(/Rejected/), 'pay {"n":1}']);
    expect(items.map(({ toolCallId }) => deployment.tools.effectsOf(toolCallId))).toEqual([1, 0, 1]);
  });

  it('decided while another call of the same answer still runs, it runs at once, and the turn goes on after both', async () => {
    for (const decider of ['one', 'two'] as const) {
      const opened = deployment.tools.hold(({ name }) => ({ text: name }));
      const conversationId = await api.conversation(['pay', 'lookup']);
      const question = '[[sim: call lookup {}]] [[sim: call pay {"n":1}]] [[sim: echo]]';
      const { turnId, frames } = await api.begin(conversationId, question);
      const asked = (await frames.until('approval.requested')).at(-1)?.data;
      const decided = (decider === 'one' ? api : there).decide(
        ...([conversationId, asked.toolCallId, 'approve', asked.argumentsDigest] as const),
      );
      await until(() => deployment.tools.effectsOf(asked.toolCallId) === 1);
      opened.open();
      expect(await decided).toMatchObject({ turnId, status: 'completed', answer: 'lookup\npay' });
      expect(await typesOf(conversationId)).not.toContain('TurnTakenOver');
      expect(deployment.tools.effectsOf(asked.toolCallId)).toBe(1);
    }
  });

  it('is decided at another process than the one that asked', async () => {
    const { conversationId, toolCallId, digest, turn } = await waiting(pay('{"n":1}'));
    expect((await inbox(turn, there)).map((item) => item.toolCallId)).toEqual([toolCallId]);
    const done = await there.decide(conversationId, toolCallId, 'approve', digest);
    expect(done).toMatchObject({ status: 'completed', answer: 'pay {"n":1}' });
    expect(deployment.tools.effectsOf(toolCallId)).toBe(1);
  });

  it('is not asked for where the arguments do not fit, and the model reads why', async () => {
    const conversationId = await api.conversation(['settle']);
    const turn = await api.ask(conversationId, '[[sim: call settle {"amount":"much"}]] [[sim: echo]]');
    expect(turn).toMatchObject({ status: 'completed', answer: expect.stringContaining('/amount must be number') });
    expect(await typesOf(conversationId)).not.toContain('ToolApprovalRequested');
    expect((await api.node(turn.nodes[1] ?? '')).sent).toMatchObject([{ type: 'tool_result', synthetic: 'invalid' }]);
    expect(await inbox(turn)).toEqual([]);
  });
});

describe('the inbox', () => {
  it('is the tenant’s own, oldest first, page by page', async () => {
    const asked: string[] = [];
    for (let n = 0; n < 3; n += 1) asked.push((await waiting(pay(`{"n":${n}}`))).toolCallId);
    const first = await api.approvals('?limit=2');
    expect(first.items.map(({ toolCallId }) => toolCallId)).toEqual(asked.slice(0, 2));
    const second = await api.approvals(`?limit=2&cursor=${first.next}`);
    expect(second).toMatchObject({ items: [{ toolCallId: asked[2], arguments: '{"n":2}' }], next: null });

    const stranger = await deployment.client(one);
    expect(await stranger.approvals()).toEqual({ items: [], next: null });
    const [mine] = first.items;
    const stolen = await stranger
      .decide(mine?.conversationId ?? '', mine?.toolCallId ?? '', 'approve', mine?.argumentsDigest ?? '')
      .catch((error: unknown) => error);
    expect(stolen).toMatchObject({ status: 404, code: 'not_found' });
    await expect(api.approvals('?cursor=x')).rejects.toMatchObject({ status: 400 });
  });

  it('keeps what a person reads out of the tables', async () => {
    const canary = 'canary-4711';
    await waiting(pay(`{"to":"${canary}"}`));
    const { rows } = await new LiveTables(deployment.pool, approvals).query<{ text: string }>(
      `select row_to_json(a)::text as text from read.approvals_v1 a`,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ text }) => text).join()).not.toContain(canary);
  });
});

it('what waits outlives every process, and is decided after a restart', async () => {
  const other = await Deployment.open();
  try {
    const before = await other.start();
    const client = await other.client(before);
    const conversationId = await client.conversation(['pay']);
    const turn = await client.ask(conversationId, pay('{"n":1}'));
    expect(turn.status).toBe('awaiting_approval');
    await before.close();

    const after = await other.start();
    const again = client.at(after);
    const { items } = await again.approvals(`?minPosition=${turn.position}`);
    expect(items).toMatchObject([{ conversationId, arguments: '{"n":1}' }]);
    expect(await again.turn(conversationId, turn.turnId)).toEqual(turn);
    const [item] = items;
    const done = await again.decide(conversationId, item?.toolCallId ?? '', 'approve', item?.argumentsDigest ?? '');
    expect(done).toMatchObject({ status: 'completed', answer: 'pay {"n":1}' });
    expect(other.tools.effectsOf(item?.toolCallId ?? '')).toBe(1);
  } finally {
    await other.close();
  }
});

it('what nobody decided in time expires: it does not run, the model reads so, and the turn goes on by itself', async () => {
  const other = await Deployment.open({ PALIMPSEST_APPROVAL_TIMEOUT_MS: '1500' });
  try {
    const process = await other.start();
    const client = await other.client(process);
    const conversationId = await client.conversation(['pay']);
    const turn = await client.ask(conversationId, pay('{"n":1}'));
    expect(turn.status).toBe('awaiting_approval');
    // From the log: on a busy machine the inbox may have it no more.
    const [item] = (await eventsOf(process, conversationId)).flatMap((event) =>
      event.type === 'ToolApprovalRequested' ? [event.data] : [],
    );

    const done = await client.ended(conversationId, turn.turnId);
    expect(done).toMatchObject({ status: 'completed', answer: expect.stringMatching(/nobody approved.*in time/) });
    expect((await client.node(done.nodes[1] ?? '')).sent).toMatchObject([{ synthetic: 'expired' }]);
    const late = await client
      .decide(conversationId, item?.toolCallId ?? '', 'approve', item?.argumentsDigest ?? '')
      .catch((error: unknown) => error);
    expect(late).toMatchObject({
      status: 409,
      code: 'already_decided',
      reply: { body: { decision: 'expired', detail: expect.stringContaining('has expired') } },
    });
    await until(async () => (await client.approvals()).items.length === 0);
    expect(other.tools.runs).toEqual([]);
  } finally {
    await other.close();
  }
});

it('every shipped projection is what a rebuild makes of the log', async () => {
  expect(await deployment.faultsOfReadModels(one)).toEqual([]);
});
