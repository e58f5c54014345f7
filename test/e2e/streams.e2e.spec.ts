import { until } from '../support/client';
import { requested } from '../support/client-requests';
import { eventsOf } from '../support/installation';
import { api, deployment, process } from '../support/one-process';
import { type Frame, hasText, isText, runningTextsOf, textsOf } from '../support/sse';

const words = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
/** Characters of the first ten. */
const tenWords = words.indexOf(' word10');
const idsOf = (frames: readonly Frame[]) => frames.flatMap(({ id }) => (id === undefined ? [] : [id]));
const inOrder = (id: string) => id.split('.').map(Number) as [number, number];

describe('a client that leaves', () => {
  it('D01: at token 10: the whole answer and its usage are stored', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames } = await api.begin(conversationId, `[[sim: slow ms=20]] [[sim: say ${words}]]`);
    await frames.until(hasText(tenWords));
    frames.leave();

    const turn = await api.ended(conversationId, turnId);
    expect(turn).toMatchObject({ status: 'completed', answer: words });
    expect(turn.usage.outputTokens).toBeGreaterThan(10);
    const { total } = await api.usage(conversationId, turn.revision);
    expect(total.usage).toEqual(turn.usage);
  });

  it('D02: before the first token: the answer is there on return', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames } = await api.begin(conversationId, '[[sim: stall ms=200]] [[sim: say there you are]]');
    frames.leave();
    const turn = await api.ended(conversationId, turnId);
    expect(turn).toMatchObject({ status: 'completed', answer: 'there you are' });
    const { bubbles } = await api.transcript(conversationId, turn.revision);
    expect(bubbles.at(-1)).toMatchObject({ role: 'assistant', text: 'there you are' });
  });

  it('comes back with Last-Event-ID, as often as it likes: no frame twice, none missing, and the text is the answer', async () => {
    const conversationId = await api.conversation(['lookup']);
    const question = `[[sim: rounds=3 tool=lookup args={}]] [[sim: slow ms=3]] [[sim: say ${words}]]`;
    const { turnId, frames } = await api.begin(conversationId, question);
    const seen: Frame[] = [...(await frames.until('round.started'))];
    frames.leave();
    let last = idsOf(seen).at(-1);
    for (let left = 0; seen.at(-1)?.event !== 'turn.finished'; left += 1) {
      const again = await api.follow(conversationId, turnId, last);
      let read = 0;
      // A few frames at a time; then the connection is lost.
      for await (const frame of again) {
        seen.push(frame);
        if (frame.event === 'turn.finished' || ++read === 4 + left) break;
      }
      again.leave();
      last = idsOf(seen).at(-1);
    }

    const all = await (await api.follow(conversationId, turnId)).rest();
    // The first frame was read by `begin`.
    expect(idsOf(all)).toEqual([idsOf(all)[0], ...idsOf(seen)]);
    expect(new Set(idsOf(seen)).size).toBe(idsOf(seen).length);
    expect([...idsOf(all)].sort((a, b) => inOrder(a)[0] - inOrder(b)[0] || inOrder(a)[1] - inOrder(b)[1])).toEqual(
      idsOf(all),
    );
    const { answer } = seen.at(-1)?.data ?? {};
    expect(answer).toBe(words);
    expect([...textsOf(seen).values()].at(-1)).toBe(words);
    for (const running of runningTextsOf(seen)) expect(running).toBe(words.slice(0, running.length));
  });

  it('reads a turn that has long ended from its beginning, and from any frame', async () => {
    const conversationId = await api.conversation(['lookup']);
    const turn = await api.ask(conversationId, '[[sim: call lookup {}]] [[sim: echo]]');
    const all = await (await api.follow(conversationId, turn.turnId)).rest();
    expect(all.map(({ event }) => event)).toEqual([
      'turn.started',
      'round.started',
      'node.finished',
      'tool.call',
      'tool.result',
      'round.started',
      'node.finished',
      'turn.finished',
    ]);
    expect(all.at(-1)?.data).toEqual(turn);
    expect([...textsOf(all).values()]).toEqual(['', turn.answer]);
    for (const [at, { id }] of all.entries())
      expect(await (await api.follow(conversationId, turn.turnId, id)).rest()).toEqual(all.slice(at + 1));
  });
});

describe('cancelling', () => {
  it('D03: before the first token: a failed node with the reason cancelled, and no empty message in a request, now or later', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames } = await api.begin(conversationId, 'first [[sim: stall ms=60000]]');
    await frames.until('round.started');
    const cancelled = await api.cancel(conversationId, turnId);
    expect(cancelled).toMatchObject({ status: 'cancelled', answer: null, head: `${turnId}-1` });
    const { nodes } = await api.tree(conversationId, cancelled.revision);
    expect(nodes).toMatchObject([{ status: 'failed', reason: 'cancelled' }]);
    expect((await api.transcript(conversationId)).bubbles).toMatchObject([
      { role: 'user' },
      { role: 'assistant', text: '', status: 'cancelled' },
    ]);

    const next = await api.ask(conversationId, 'second [[sim: say ok]]');
    const body = (await api.replay(next.nodes[0] ?? '')).body;
    expect(requested(body).questions.map((text) => text.split(' [[')[0])).toEqual(['first', 'second']);
    expect(requested(body).answers).toEqual([]);
    expect((await api.transcript(conversationId, next.revision)).bubbles.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
    expect(await api.cancel(conversationId, turnId)).toEqual(cancelled);
  });

  it('D04: while a tool call’s arguments stream: the partial call is no call', async () => {
    const long = 'x'.repeat(400);
    for (const name of ['simulated', 'simulated-anthropic']) {
      const runs = deployment.tools.runs.length;
      const conversationId = await api.conversation(['note'], { model: { provider: 'simulated', name } });
      const question = `[[sim: stall ms=60000 after=4]] [[sim: call note {"text":"${long}"}]]`;
      const { turnId, frames } = await api.begin(conversationId, question);
      await frames.until('round.started');
      await new Promise((resolve) => setTimeout(resolve, 150));
      const cancelled = await api.cancel(conversationId, turnId);
      expect(cancelled).toMatchObject({ status: 'cancelled' });
      expect(cancelled.openCalls).toBeUndefined();
      expect((await api.node(`${turnId}-1`)).received).toEqual([]);
      expect(await api.ask(conversationId, '[[sim: say ok]]')).toMatchObject({ status: 'completed', answer: 'ok' });
      expect(deployment.tools.runs).toHaveLength(runs);
    }
  });

  it('while text streams: what arrived is neither an answer nor context', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames } = await api.begin(conversationId, `[[sim: slow ms=20]] [[sim: say ${words}]]`);
    await frames.until(isText);
    await api.cancel(conversationId, turnId);
    const ending = (await frames.rest()).at(-1);
    expect(ending).toMatchObject({ event: 'turn.finished', data: { status: 'cancelled', answer: null } });
    const next = await api.ask(conversationId, 'and? [[sim: say nothing]]');
    expect(requested((await api.replay(next.nodes[0] ?? '')).body).answers).toEqual([]);
  });

  it('while a tool runs: the call is named as open, and shows as interrupted once the next question closed it', async () => {
    const conversationId = await api.conversation(['note']);
    const held = deployment.tools.hold();
    const { turnId, frames } = await api.begin(conversationId, '[[sim: call note {}]]');
    await frames.until('tool.call');
    await until(() => deployment.tools.effectsOf(`${turnId}-1-0`) === 1);
    expect(await api.cancel(conversationId, turnId)).toMatchObject({ openCalls: [`${turnId}-1-0`] });
    const next = await api.ask(conversationId, '[[sim: say well]]');
    const { sent } = await api.node(next.nodes[0] ?? '');
    expect(sent[0]).toMatchObject({ type: 'tool_result', synthetic: 'interrupted', isError: true });
    held.open();
    await until(() => process.installation.running.system.engine.running === 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const results = (await eventsOf(process, conversationId)).filter(({ type }) => type === 'ToolExecuted');
    expect(results).toMatchObject([{ data: { synthetic: 'interrupted' } }]);
  });

  it('between attempts: no further attempt is made', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames } = await api.begin(
      conversationId,
      'cancel me [[sim: fail overloaded retry_after_ms=50000]]',
    );
    await frames.until('round.started');
    await until(async () => (await eventsOf(process, conversationId)).some(({ type }) => type === 'CallAttemptFailed'));
    await api.cancel(conversationId, turnId);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(deployment.model.captures.filter(({ body }) => body.includes('cancel me'))).toHaveLength(1);
  });

  it('while an approval is awaited: the approval is closed with the turn', async () => {
    const conversationId = await api.conversation(['pay']);
    const waiting = await api.ask(conversationId, '[[sim: call pay {"sum":1}]]');
    expect(waiting).toMatchObject({ status: 'awaiting_approval' });
    await expect(api.ask(conversationId, 'x')).rejects.toMatchObject({ status: 409, code: 'turn_running' });
    await api.cancel(conversationId, waiting.turnId);
    await expect(api.decide(conversationId, `${waiting.turnId}-1-0`, 'approve', 'd')).rejects.toMatchObject({
      code: 'already_decided',
    });
    const next = await api.ask(conversationId, '[[sim: say ok]]');
    expect((await api.node(next.nodes[0] ?? '')).sent[0]).toMatchObject({ synthetic: 'not_started' });
    expect(deployment.tools.effectsOf(`${waiting.turnId}-1-0`)).toBe(0);
  });
});
