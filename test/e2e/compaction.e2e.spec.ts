import type { AssistantSpecification } from '@palimpsest/application';
import { randomUUID } from 'node:crypto';
import { type Node, type Turn, until } from '../support/client';
import { requested, unpairedIn } from '../support/client-requests';
import { eventsOf, mortal } from '../support/installation';
import { api, deployment, process, say } from '../support/one-process';

const anthropic = { provider: 'simulated', name: 'simulated-anthropic' } as const;
/** A summariser that does what a test asks of it. */
const summariser = (directive: string): Partial<AssistantSpecification> => ({
  compaction: { instruction: `Summarise. ${directive}` },
});
const SUMMARY = say('the person likes blue');

const bodyOf = async (turn: Turn, at = -1) => (await api.replay(turn.nodes.at(at) ?? '')).body;
const kindsOf = async (conversationId: string, revision: string) =>
  (await api.tree(conversationId, revision)).nodes.map(({ kind, status }) => `${kind} ${status}`);
const storedBytes = async (conversationId: string) =>
  (await eventsOf(process, conversationId)).reduce((sum, { data }) => sum + JSON.stringify(data).length, 0);

describe('a compaction', () => {
  it.each([['simulated'], ['simulated-anthropic']])(
    'later turns see the summary instead of what was said, and people see everything (%s)',
    async (name) => {
      const conversationId = await api.conversation([], {
        model: { provider: 'simulated', name },
        ...summariser(SUMMARY),
      });
      await api.ask(conversationId, `I like BLUE ${say('noted')}`);
      const before = await api.ask(conversationId, `and SQUARES ${say('noted too')}`);
      const compacted = await api.compact(conversationId);
      expect(compacted).toMatchObject({ status: 'succeeded', head: compacted.nodeId });

      const node = await api.node(compacted.nodeId, compacted.revision);
      expect(node).toMatchObject({ kind: 'compaction', parent: null, origin: before.head, turnId: null });
      expect(node.sent).toEqual([{ type: 'user', text: `Summarise. ${SUMMARY}` }]);
      expect(node.received).toEqual([{ type: 'assistant', text: 'the person likes blue' }]);
      const asked = await api.replay(compacted.nodeId);
      expect(requested(asked.body)).toMatchObject({
        questions: [expect.stringContaining('BLUE'), expect.stringContaining('SQUARES'), `Summarise. ${SUMMARY}`],
        answers: ['noted', 'noted too'],
      });

      const after = await api.ask(conversationId, `and now? ${say('on')}`);
      const { body, verified, parts } = await api.replay(after.nodes[0] ?? '');
      expect(verified).toBe(true);
      expect(requested(body).questions).toEqual([
        'Summary of the conversation so far:\n\nthe person likes blue',
        `and now? ${say('on')}`,
      ]);
      expect(body).not.toMatch(/BLUE|SQUARES|noted|Summarise/);
      expect(parts.filter(({ what }) => what === 'summary')).not.toEqual([]);
      expect(parts.filter(({ what }) => what === 'summary').every(({ nodeId }) => nodeId === compacted.nodeId)).toBe(
        true,
      );

      const { bubbles } = await api.transcript(conversationId, after.revision);
      expect(bubbles.map(({ text }) => text)).toEqual([
        expect.stringContaining('BLUE'),
        'noted',
        expect.stringContaining('SQUARES'),
        'noted too',
        expect.stringContaining('and now?'),
        'on',
      ]);
      const tree = await api.tree(conversationId, after.revision);
      expect(tree.nodes.at(-1)).toMatchObject({ parent: compacted.nodeId });
    },
  );

  it('without words of its own asks for a summary, and the simulated model gives one', async () => {
    const conversationId = await api.conversation();
    await api.ask(conversationId, `My budget is 20,000. ${say('Noted: 20,000.')}`);
    const compacted = await api.compact(conversationId);
    expect((await api.node(compacted.nodeId, compacted.revision)).received).toEqual([
      { type: 'assistant', text: 'Asked: My budget is 20,000.\nAnswered: Noted: 20,000.' },
    ]);
  });

  it('its request copies what was said from the requests before, as does a second one', async () => {
    const conversationId = await api.conversation([], summariser(SUMMARY));
    await api.ask(conversationId, `${'a long question '.repeat(400)} ${say('one')}`);
    const start = await storedBytes(conversationId);
    const compacted = await api.compact(conversationId);
    expect((await api.replay(compacted.nodeId)).body.length).toBeGreaterThan(6000);
    expect((await storedBytes(conversationId)) - start).toBeLessThan(4000);
  });

  it('results that no node has sent yet go in too, and none is sent twice or without its call', async () => {
    const conversationId = await api.conversation(['lookup'], summariser(SUMMARY));
    const call = '[[sim: rounds=1 tool=lookup args={}]] [[sim: fail auth round=2]]';
    await api.ask(conversationId, `look it up ${call}`);
    const overflowed = await api.ask(conversationId, '[[sim: fail context_overflow]]');
    expect(overflowed.status).toBe('failed');
    const { nodeId } = await api.compact(conversationId);
    const { body } = await api.replay(nodeId);
    expect(requested(body).results).toHaveLength(1);
    expect(unpairedIn(body)).toEqual([]);
    const after = await api.ask(conversationId, say('on'));
    expect(requested(await bodyOf(after))).toMatchObject({ calls: [], results: [] });
  });

  it('T12: every kind of tool block is paired in it, the provider’s own tools too', async () => {
    const conversationId = await api.conversation(['lookup', 'note'], { model: anthropic, ...summariser(SUMMARY) });
    await api.ask(conversationId, `[[sim: think]] [[sim: search]] ${say('found')}`);
    await api.ask(conversationId, '[[sim: parallel=3 tool=lookup args={}]]');
    await api.ask(conversationId, '[[sim: call nothing {}]]');
    await api.ask(conversationId, '[[sim: call lookup not json]]');
    const { nodeId, status } = await api.compact(conversationId);
    expect(status).toBe('succeeded');
    const { body } = await api.replay(nodeId);
    expect(unpairedIn(body)).toEqual([]);
    expect(body).toMatch(/server_tool_use.*web_search_tool_result/);
    expect(await api.ask(conversationId, say('on'))).toMatchObject({ status: 'completed' });
  });

  it('coverage says what became of every item of the lineage, at every node of it', async () => {
    const conversationId = await api.conversation(['lookup'], { model: anthropic, ...summariser(SUMMARY) });
    const before = await api.ask(conversationId, `[[sim: think]] [[sim: call lookup {"n":1}]] ${say('found')}`);
    await api.ask(conversationId, `[[sim: fail provider_error after=6 times=9]] ${say('half of what was to be said')}`);
    const compacted = await api.compact(conversationId);
    const after = await api.ask(conversationId, `[[sim: call lookup {"n":2}]] ${say('on')}`);
    const { nodes } = await api.tree(conversationId, after.revision);
    for (const { id } of nodes) {
      const { items, totals } = await api.coverage(id, 3);
      const lineage = nodes.slice(0, nodes.findIndex((node) => node.id === id) + 1);
      const stored = await Promise.all(lineage.map(async ({ id: of }) => [of, await api.node(of)] as const));
      const expected = stored.flatMap(([of, { sent, received, failure }]) => [
        ...sent.map((_, at) => `${of} sent/${at}`),
        ...received.map((_, at) => `${of} received/${at}`),
        ...(failure?.partial === undefined ? [] : [`${of} partial`]),
      ]);
      expect(items.map(({ nodeId, item }) => `${nodeId} ${item}`)).toEqual(expected);
      const { lineage: sum, ...kinds } = totals;
      expect(Object.values(kinds).reduce((all, kind) => all + kind.items, 0)).toBe(sum.items);
      expect(items.filter(({ coverage }) => coverage.kind === 'omitted' && coverage.reason === 'unexplained')).toEqual([]); // prettier-ignore
    }
    const { items } = await api.coverage(after.head ?? '');
    const became = (nodeId: string | undefined) => items.filter((one) => one.nodeId === nodeId).map(({ coverage }) => coverage); // prettier-ignore
    const compactedBy = { kind: 'compacted', node: compacted.nodeId };
    expect(became(before.nodes[0])).toEqual([compactedBy, compactedBy, compactedBy]);
    expect(became(compacted.nodeId)).toEqual([{ kind: 'omitted', reason: 'outside_turn' }, { kind: 'verbatim' }]);
    expect(became(after.nodes[0])).toEqual([{ kind: 'verbatim' }, { kind: 'verbatim' }]);
    expect(became(after.nodes[1])).toEqual([{ kind: 'verbatim' }, { kind: 'omitted', reason: 'later' }]);
  });

  it('a diagnosis finds a confirmed value again in the summary and the block, however it is written; what the next request would hold is told', async () => {
    const conversationId = await api.conversation([], {
      state: 'default',
      ...summariser(say('They want 10000 at most')),
    });
    await api.ask(conversationId, `My budget is 10,000. ${say('noted')}`);
    const compacted = await api.compact(conversationId);
    const after = await api.ask(conversationId, `and now? ${say('on')}`);
    const { summaryLostValue, stateNotUpdated, historyTooLong } = await api.diagnosis(after.head ?? '', after.revision);
    const evidence = [expect.objectContaining({ field: 'budget', value: 10_000, inSummary: true, inState: true })];
    expect(summaryLostValue).toEqual({ answer: 'no', evidence });
    expect([stateNotUpdated.answer, historyTooLong.answer]).toEqual(['no', 'no']);
    expect(historyTooLong.evidence[0]?.parts.summary).toBeGreaterThan(0);

    const context = await api.context(conversationId, after.revision);
    expect(context.segments).toEqual([expect.objectContaining({ kind: 'compaction', nodeId: compacted.nodeId })]);
    expect(context).toMatchObject({ head: after.head, window: { messages: 2, turns: 1 }, folds: [] });
    expect(context.state).toContain('budget: 10,000 [latest confirmed]');
  });

  it('edit and regenerate of a turn before it are refused: 409 before_compaction', async () => {
    const conversationId = await api.conversation([], summariser(SUMMARY));
    const { turnId } = await api.ask(conversationId, say('one'));
    await api.compact(conversationId);
    const refused = { status: 409, code: 'before_compaction' };
    await expect(api.edit(conversationId, turnId, 'x')).rejects.toMatchObject(refused);
    await expect(api.regenerate(conversationId, turnId)).rejects.toMatchObject(refused);
    const after = await api.ask(conversationId, say('two'));
    expect(await api.edit(conversationId, after.turnId, say('three'))).toMatchObject({ status: 'completed' });
  });

  it('is refused while a turn runs, and where nothing was said since the last one', async () => {
    const conversationId = await api.conversation([], summariser(SUMMARY));
    await expect(api.compact(conversationId)).rejects.toMatchObject({ status: 409, code: 'nothing_to_compact' });
    const { turnId } = await api.begin(conversationId, `[[sim: stall ms=20000]] ${say('x')}`);
    await expect(api.compact(conversationId)).rejects.toMatchObject({ status: 409, code: 'turn_running' });
    await api.cancel(conversationId, turnId);
    await api.compact(conversationId);
    await expect(api.compact(conversationId)).rejects.toMatchObject({ code: 'nothing_to_compact' });
    await expect(api.compact(randomUUID())).rejects.toMatchObject({ status: 404 });
  });

  it('has its effect once under one key, whose answer stays the same', async () => {
    const conversationId = await api.conversation([], summariser(SUMMARY));
    await api.ask(conversationId, say('one'));
    const key = randomUUID();
    const [first, second] = await Promise.all([api.compact(conversationId, key), api.compact(conversationId, key)]);
    expect({ ...second, position: first?.position }).toEqual(first);
    await api.ask(conversationId, say('two'));
    expect({ ...(await api.compact(conversationId, key)), position: first?.position }).toEqual(first);
    const path = `/v1/conversations/${conversationId}/compactions`;
    const other = await api.send('POST', path, { key, body: { reason: 'topic' } });
    expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
    expect((await api.send('POST', path, { body: { reason: 'topic' } })).status).toBe(201);
    const reasons = (await eventsOf(process, conversationId)).flatMap((event) =>
      event.type === 'CallRequested' && event.data.kind === 'compaction' ? [event.data.reason] : [],
    );
    expect(reasons).toEqual(['demand', 'topic']);
    expect((await api.send('POST', path, { body: { reason: 'x' } })).status).toBe(400);
  });

  it.each([
    ['breaks off in the stream, each time', '[[sim: cut after=2]]', 'provider_error'],
    ['is refused by the provider', '[[sim: fail auth]]', 'auth'],
    ['is empty', say(''), 'unusable_answer'],
    ['is cut off for its length', `[[sim: stop length]] ${say('half a')}`, 'unusable_answer'],
    ['is filtered', `[[sim: stop content_filter]] ${say('half a')}`, 'unusable_answer'],
    ['asks for a tool', '[[sim: call lookup {}]]', 'unusable_answer'],
    ['is an error text', say('Error: upstream timed out'), 'unusable_answer'],
    ['is an error as JSON', say('{"error": {"message": "busy"}}'), 'unusable_answer'],
  ])('K10: a summary that %s changes nothing but its own node', async (_what, directive, code) => {
    const conversationId = await api.conversation(['lookup'], summariser(directive));
    const before = await api.ask(conversationId, `keep THIS ${say('kept')}`);
    const failed = await api.compact(conversationId);
    expect(failed).toMatchObject({ status: 'failed', error: { code }, head: before.head });
    expect(await kindsOf(conversationId, failed.revision)).toEqual(['turn succeeded', 'compaction failed']);
    const node: Node = await api.node(failed.nodeId, failed.revision);
    expect(node).toMatchObject({ status: 'failed', reason: code, failure: { detail: failed.error?.detail } });
    const types = (await eventsOf(process, conversationId)).map(({ type }) => type);
    expect(types).not.toContain('ContextCompacted');
    expect(types).not.toContain('ToolExecutionStarted');
    expect(await bodyOf(await api.ask(conversationId, say('on')))).toContain('keep THIS');
  });

  it('K01: three of them leave the bytes of the system prompt as they were', async () => {
    const systemPrompt = 'Answer in French. Réponds «en français», "toujours".\n\u0000';
    const conversationId = await api.conversation([], { systemPrompt, ...summariser(SUMMARY) });
    const systems: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      const { nodes } = await api.ask(conversationId, say(`answer ${n}`));
      const bytes = await api.replayBytes(nodes[0] ?? '');
      const { parts } = await api.replay(nodes[0] ?? '');
      const system = parts.filter(({ what }) => what === 'system');
      systems.push(system.map(({ from, to }) => bytes.subarray(from, to).toString('hex')).join());
      if (n < 3) await api.compact(conversationId);
    }
    expect(systems[0]).not.toBe('');
    expect(new Set(systems).size).toBe(1);
  });

  it('K11: the turns after it have the same window, which only grows', async () => {
    const conversationId = await api.conversation([], summariser(SUMMARY));
    for (const n of [1, 2, 3]) await api.ask(conversationId, say(`answer ${n}`));
    await api.compact(conversationId);
    const one = await bodyOf(await api.ask(conversationId, `q1 ${say('a1')}`));
    const two = await bodyOf(await api.ask(conversationId, `q2 ${say('a2')}`));
    const head = one.slice(0, one.lastIndexOf(']'));
    expect(two.startsWith(head)).toBe(true);
    expect(requested(two).questions).toHaveLength(3);
  });

  it('P02: a replay of an earlier node holds not a byte from later, and stays the same', async () => {
    const conversationId = await api.conversation([], summariser(SUMMARY));
    const turns: Turn[] = [];
    for (let n = 1; n <= 4; n += 1) turns.push(await api.ask(conversationId, `question-${n} ${say(`answer-${n}`)}`));
    const fourth = turns[3]?.nodes[0] ?? '';
    const then = await api.replayBytes(fourth);
    for (let n = 5; n <= 14; n += 1) await api.ask(conversationId, `question-${n} ${say(`answer-${n}`)}`);
    expect(await api.replayBytes(fourth)).toEqual(then);
    await api.compact(conversationId);
    await api.ask(conversationId, say('after'));
    const now = await api.replay(fourth);
    expect(now.verified).toBe(true);
    expect(await api.replayBytes(fourth)).toEqual(then);
    expect(now.body).not.toMatch(/question-([5-9]|1\d)|answer-([5-9]|1\d)|likes blue/);
  });

  it('K07: of a branch that ends at node 20 of 40 leaves nodes 21 to 40 untouched', async () => {
    const conversationId = await api.conversation([], { context: { window: null }, ...summariser(SUMMARY) });
    const turns: Turn[] = [];
    for (let n = 1; n <= 40; n += 1) turns.push(await api.ask(conversationId, `question-${n} ${say(`answer-${n}`)}`));
    const bytes = await Promise.all(turns.map(({ nodes }) => api.replayBytes(nodes[0] ?? '')));
    // A branch at node 20, so that the head can stand there.
    const branch = await api.edit(conversationId, turns[20]?.turnId ?? '', say('another'));
    const compacted = await api.compact(conversationId);
    expect((await api.node(compacted.nodeId, compacted.revision)).origin).toBe(branch.head);
    await api.ask(conversationId, say('under the compaction'));
    await api.switchTo(conversationId, turns[39]?.nodes[0] ?? '');
    expect(await Promise.all(turns.map(({ nodes }) => api.replayBytes(nodes[0] ?? '')))).toEqual(bytes);
    const next = requested(await bodyOf(await api.ask(conversationId, say('on'))));
    expect(next.questions).toHaveLength(41);
    expect(next.questions[39]).toContain('question-40');
  });

  it('K04: sixty of them grow the log linearly, and none holds a copy of the history', async () => {
    const conversationId = await api.conversation([], summariser(SUMMARY));
    const sizes: number[] = [];
    for (let n = 0; n < 60; n += 1) {
      await api.ask(conversationId, `${`word-${n} `.repeat(300)} ${say('answer')}`);
      await api.compact(conversationId);
      sizes.push(await storedBytes(conversationId));
    }
    const grew = (from: number, to: number) => (sizes[to] ?? 0) - (sizes[from] ?? 0);
    expect(grew(49, 59) / grew(9, 19)).toBeLessThan(1.1);
    const requests = (await eventsOf(process, conversationId)).filter(
      (event) => event.type === 'CallRequested' && event.data.kind === 'compaction',
    );
    expect(requests).toHaveLength(60);
    const bytes = requests.map(({ data, content }) => JSON.stringify({ data, content }).length);
    expect(Math.max(...bytes) - Math.min(...bytes)).toBeLessThan(300);
  });

  it('the read models are as a rebuild makes them', async () => {
    expect(await deployment.faultsOfReadModels(process)).toEqual([]);
  });
});

describe('a process that dies in a compaction', () => {
  it('leaves a node that another closes as interrupted; its late answer changes nothing, and the next one may', async () => {
    const conversationId = await api.conversation([], summariser(SUMMARY));
    const before = await api.ask(conversationId, say('one'));
    const held = deployment.requests.hold();
    const lost = await deployment.start(mortal);
    const left = api.at(lost).compact(conversationId);
    left.catch(() => undefined);
    await until(async () => (await api.tree(conversationId)).nodes.some(({ kind }) => kind === 'compaction'));
    await lost.cutOff();
    await until(async () => (await api.tree(conversationId)).nodes.at(-1)?.status === 'failed');
    const { head, nodes } = await api.tree(conversationId);
    expect(head).toBe(before.head);
    expect(nodes.at(-1)).toMatchObject({ kind: 'compaction', reason: 'interrupted' });
    held.open();
    expect(await api.compact(conversationId)).toMatchObject({ status: 'succeeded' });
  });
});

describe('an answer that pauses', () => {
  it('K18: is not finished: the next round goes on from it as it is, and the person reads one answer', async () => {
    const conversationId = await api.conversation([], { model: anthropic });
    const turn = await api.ask(conversationId, `go on [[sim: pause=2]] [[sim: search]] ${say('and done')}`);
    expect(turn).toMatchObject({
      status: 'completed',
      answer: 'Part 1.\n\nPart 2.\n\nand done',
      stopReason: 'end_turn',
    });
    expect(turn.nodes).toHaveLength(3);
    const second = await api.replay(turn.nodes[1] ?? '');
    const { messages } = JSON.parse(second.body) as { messages: readonly { role: string; content: unknown }[] };
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(second.body).toMatch(/server_tool_use.*Part 1\./);
    const { bubbles } = await api.transcript(conversationId, turn.revision);
    expect(bubbles.map(({ text }) => text)).toEqual([expect.stringContaining('go on'), turn.answer]);
    expect(await api.ask(conversationId, say('next'))).toMatchObject({ status: 'completed' });
    const paused = (await eventsOf(process, conversationId)).filter(
      (event) => event.type === 'CallSucceeded' && event.data.paused,
    );
    expect(paused).toHaveLength(2);
  });

  it('K18: that pauses for ever ends with the rounds that a turn may have', async () => {
    const conversationId = await api.conversation([], { model: anthropic });
    const turn = await api.ask(conversationId, '[[sim: pause=1000]]');
    expect(turn).toMatchObject({ status: 'failed', error: { code: 'too_many_rounds' } });
    expect(await api.ask(conversationId, say('next'))).toMatchObject({ status: 'completed' });
  });
});
