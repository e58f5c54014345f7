import { type Client, type Turn, until } from '../support/client';
import { requested, unpairedIn } from '../support/client-requests';
import { Deployment, eventsOf, type InnerProcess, linesOf, mortal, type Process } from '../support/installation';

let deployment: Deployment;
let one: InnerProcess;
let two: Process;
let api: Client;
let there: Client;

beforeAll(async () => {
  deployment = await Deployment.open();
  one = await deployment.start();
  two = await deployment.startBeside();
  api = await deployment.client(one);
  there = api.at(two);
});
beforeEach(() => deployment.tools.behave());
afterAll(() => deployment.close());

const say = (text: string) => `[[sim: say ${text}]]`;

describe('two processes on one log', () => {
  it('C01, C02: of two turns at once on one head one runs, and the other is told 409', async () => {
    for (let round = 0; round < 5; round += 1) {
      const conversationId = await api.conversation(['lookup']);
      const held = deployment.tools.hold();
      const both = [api, there].map((at) => at.ask(conversationId, `[[sim: call lookup {}]] ${say('one')}`));
      // The one that runs goes on once the other was told.
      await Promise.race(both).catch(() => undefined);
      held.open();
      const asked = await Promise.allSettled(both);
      const [won, lost] = [asked.filter(isFulfilled), asked.filter(({ status }) => status === 'rejected')];
      expect([won.length, lost.length]).toEqual([1, 1]);
      expect(lost[0]).toMatchObject({ reason: { status: 409, code: 'turn_running' } });
      expect(won[0]?.value.status).toBe('completed');
      expect((await api.tree(conversationId, won[0]?.value.revision)).nodes).toHaveLength(2);
    }
  });

  it('C09: the same key twice in parallel, on two processes: one run, two equal answers', async () => {
    for (let round = 0; round < 5; round += 1) {
      const conversationId = await api.conversation(['note']);
      const question = '[[sim: call note {}]] [[sim: say noted]]';
      const answers = await Promise.all([
        api.ask(conversationId, question, { key: 'once' }),
        there.ask(conversationId, question, { key: 'once' }),
        api.ask(conversationId, question, { key: 'once' }),
      ]);
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[2]).toEqual(answers[0]);
      expect(answers[0]).toMatchObject({ status: 'completed', answer: 'noted' });
      expect(deployment.tools.effectsOf(`${answers[0].turnId}-1-0`)).toBe(1);
      expect((await there.tree(conversationId, answers[0].revision)).nodes).toHaveLength(2);
    }
  });

  it('C09: the same key again gives the same answer at any time and process, and another body 409', async () => {
    const conversationId = await api.conversation();
    const first = await api.ask(conversationId, say('first'), { key: 'k' });
    await api.ask(conversationId, say('second'));
    expect(await there.ask(conversationId, say('first'), { key: 'k' })).toEqual(first);
    await expect(there.ask(conversationId, say('other'), { key: 'k' })).rejects.toMatchObject({
      status: 409,
      code: 'idempotency_conflict',
    });
    // A key belongs to its route and its caller.
    expect(await there.regenerate(conversationId, first.turnId, 'k')).toMatchObject({ answer: 'first' });
    const again = await Promise.all([1, 2, 3].map(() => there.regenerate(conversationId, first.turnId, 'k')));
    expect(new Set(again.map(({ turnId }) => turnId)).size).toBe(1);
  });

  it('what a turn before a compaction leaves open is known to the process that holds nothing of it', async () => {
    const conversationId = await api.conversation([], { state: 'default' });
    await api.ask(conversationId, `My budget is 10,000. ${say('noted')}`);
    await api.ask(conversationId, `Perhaps double the budget. ${say('hm')}`);
    const { revision } = await api.compact(conversationId);
    await api.tree(conversationId, revision);
    const { nodes, answer } = await there.ask(conversationId, `And now? ${say('so')}`);
    expect(answer).toBe('so');
    expect((await api.replay(nodes[0] ?? '')).body).toContain('budget: 10,000 [this message takes precedence]');
  });

  it('C09: a key makes one assistant and one conversation, wherever and however often it is sent', async () => {
    const body = { name: 'Once', systemPrompt: 'x', model: { provider: 'simulated', name: 'simulated' } };
    const made = await Promise.all(
      [api, there, api].map((client) => client.send('POST', '/v1/assistants', { body, key: 'assistant' })),
    );
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    const { assistantId } = made[0]?.body ?? {};
    const started = await Promise.all(
      [api, there, api].map((client) =>
        client.send('POST', '/v1/conversations', { body: { assistantId }, key: 'conversation' }),
      ),
    );
    expect(new Set(started.map(({ text }) => text)).size).toBe(1);
    const otherBody = { assistantId, zone: 'Asia/Seoul' };
    const refused = await there.send('POST', '/v1/conversations', { body: otherBody, key: 'conversation' });
    expect(refused).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
  });

  it('lets any process cancel, decide and follow what another one carries', async () => {
    const conversationId = await api.conversation(['pay']);
    const { turnId, frames } = await api.begin(conversationId, '[[sim: call pay {"sum":5}]] [[sim: echo]]');
    const asked = (await frames.until('approval.requested')).at(-1)?.data;
    frames.leave();
    await expect(there.ask(conversationId, 'x')).rejects.toMatchObject({ status: 409, code: 'turn_running' });
    await expect(there.decide(conversationId, asked.toolCallId, 'approve', 'another')).rejects.toMatchObject({
      code: 'approval_mismatch',
    });
    const paid = await there.decide(conversationId, asked.toolCallId, 'approve', asked.argumentsDigest);
    expect(paid).toMatchObject({ turnId, status: 'completed', answer: 'pay {"sum":5}' });
    expect(deployment.tools.effectsOf(asked.toolCallId)).toBe(1);

    const running = await api.begin(conversationId, '[[sim: stall ms=60000 after=1]]');
    const elsewhere = await there.follow(conversationId, running.turnId);
    await elsewhere.until('round.started');
    expect(await there.cancel(conversationId, running.turnId)).toMatchObject({ status: 'cancelled' });
    for (const follower of [elsewhere, running.frames])
      expect((await follower.rest()).at(-1)).toMatchObject({ event: 'turn.finished', data: { status: 'cancelled' } });
    // The carrier learns of it and lets go: its call is aborted and its place is free.
    await until(() => one.installation.running.system.engine.running === 0);
  });

  it('queues a second question where the conversation says so, and answers it next', async () => {
    const conversationId = await api.conversation([], {}, { whenBusy: 'queue' });
    const first = api.ask(conversationId, `[[sim: stall ms=400 after=1]] ${say('one')}`);
    await until(async () => (await eventsOf(one, conversationId)).some(({ type }) => type === 'CallRequested'));
    const second = there.ask(conversationId, say('two'));
    expect(await Promise.all([first, second])).toMatchObject([
      { status: 'completed', answer: 'one' },
      { status: 'completed', answer: 'two' },
    ]);
    const { nodes } = await api.tree(conversationId, (await second).revision);
    expect(nodes[1]?.parent).toBe(nodes[0]?.id);
  });
});

describe('a process that lost its database while it carried a turn', () => {
  it('T02: the turn is taken over; the started write is closed as interrupted, the read runs again, and 409 meanwhile', async () => {
    const lost = await deployment.start(mortal);
    const conversationId = await api.conversation(['note', 'lookup']);
    const held = deployment.tools.hold();
    const question = 'do both [[sim: call note {"w":1}]] [[sim: call lookup {"r":1}]] [[sim: say carried on]]';
    const { turnId } = await api.at(lost).begin(conversationId, question);
    await until(() => [0, 1].every((call) => deployment.tools.effectsOf(`${turnId}-1-${call}`) > 0));
    await lost.cutOff();

    await expect(api.ask(conversationId, 'are you there?')).rejects.toMatchObject({
      status: 409,
      code: 'turn_running',
    });
    // The read runs again, under a new carrier.
    await until(() => deployment.tools.effectsOf(`${turnId}-1-1`) > 1);
    held.open();
    const turn = await api.ended(conversationId, turnId);

    expect(turn).toMatchObject({ status: 'completed', answer: 'carried on' });
    expect(deployment.tools.effectsOf(`${turnId}-1-0`)).toBe(1);
    const body = (await api.replay(turn.nodes[1] ?? '')).body;
    expect(unpairedIn(body)).toEqual([]);
    expect(requested(body).questions).toHaveLength(1);
    const node = await api.node(turn.nodes[1] ?? '');
    expect(node.sent).toMatchObject([
      { type: 'tool_result', toolCallId: `${turnId}-1-0`, synthetic: 'interrupted', isError: true },
      { type: 'tool_result', toolCallId: `${turnId}-1-1`, text: 'lookup {"r":1}', isError: false },
    ]);
    const takeovers = [one, two].flatMap((process) => linesOf(process)).filter((line) => line['turnId'] === turnId);
    expect(takeovers.some(({ msg }) => /taken over/.test(String(msg)))).toBe(true);
    await lost.close();
  });

  it('takes a pending call over with the same bytes', async () => {
    const lost = await deployment.start(mortal);
    const conversationId = await api.conversation();
    const { turnId } = await api.at(lost).begin(conversationId, `[[sim: stall ms=60000 times=1]] ${say('at last')}`);
    const sent = () => deployment.model.captures.filter(({ body }) => body.includes('at last'));
    await until(() => sent().length === 1);
    await lost.cutOff();

    expect(await api.ended(conversationId, turnId)).toMatchObject({ status: 'completed', answer: 'at last' });
    expect(sent()).toHaveLength(2);
    expect(sent()[1]?.body.equals(sent()[0]?.body ?? Buffer.alloc(0))).toBe(true);
    const attempts = (await eventsOf(one, conversationId)).filter(({ type }) => type === 'CallAttemptFailed');
    expect(attempts).toMatchObject([{ data: { reason: 'interrupted' } }]);
    await lost.close();
  });
});

it('gives a turn up after three takeovers with nothing between, visibly, and takes the next question', async () => {
  const unlucky = await Deployment.open({ PALIMPSEST_LEASE_MS: '400', PALIMPSEST_LEASE_RENEW_MS: '100' });
  try {
    const first = await unlucky.start();
    const mine = await unlucky.client(first, 'alone');
    const conversationId = await mine.conversation();
    const { turnId } = await mine.begin(conversationId, '[[sim: stall ms=60000]]');
    let carrier = first;
    for (let takeover = 1; takeover <= 3; takeover += 1) {
      const next = await unlucky.start();
      await carrier.cutOff();
      await until(async () => {
        const events = await eventsOf(next, conversationId);
        return events.filter(({ type }) => type === 'TurnTakenOver').length >= takeover;
      });
      carrier = next;
    }
    const last = await unlucky.start();
    await carrier.cutOff();

    const there = mine.at(last);
    const turn = await there.ended(conversationId, turnId);
    expect(turn).toMatchObject({ status: 'failed', answer: null, error: { code: 'interrupted' } });
    expect((await there.tree(conversationId, turn.revision)).nodes).toMatchObject([
      { status: 'failed', reason: 'interrupted' },
    ]);
    expect(await there.ask(conversationId, say('here again'))).toMatchObject({ status: 'completed' });
  } finally {
    await unlucky.close();
  }
});

const isFulfilled = (result: PromiseSettledResult<Turn>): result is PromiseFulfilledResult<Turn> =>
  result.status === 'fulfilled';
