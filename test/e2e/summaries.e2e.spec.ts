import type { ItemTagging } from '@palimpsest/conversation';
import { conversationKeyId } from '@palimpsest/event-store';
import { type Turn, until } from '../support/client';
import { requested, unpairedIn } from '../support/client-requests';
import { eventsOf, linesOf } from '../support/installation';
import { api, deployment, process, say } from '../support/one-process';
import { first, small, summaries, talk } from '../support/summary-stories';

const words = (text: string, count: number) => `${text} `.repeat(count);
const OPENING = 'Summary of the conversation so far:\n\n';
const replayOf = async (turn: Turn, at = 0) => api.replay(turn.nodes.at(at) ?? '');
const partOf = async (turn: Turn) => requested((await replayOf(turn, -1)).body);
const requests = async (conversationId: string) =>
  (await eventsOf(process, conversationId)).flatMap((event) => (event.type === 'CallRequested' ? [event.data] : []));
const foldedRuns = async (conversationId: string) =>
  (await eventsOf(process, conversationId)).flatMap((event) => (event.type === 'SummaryFolded' ? [event.data] : []));

describe('the window of an assistant that says nothing of it', () => {
  it('K11: at turn 13 holds a summary and twelve messages, and grows until it is cut again; each replay stays exact', async () => {
    const conversationId = await api.conversation();
    const turns = await talk(conversationId, 1, 15);
    const asked = await partOf(turns[12] as Turn);
    expect(asked.questions).toHaveLength(1 + 6 + 1);
    expect(asked.questions[0]?.startsWith(`${OPENING}Asked: question-1\nAnswered: answer-1\n`)).toBe(true);
    expect(asked.questions[0]).toContain('Answered: answer-6');
    expect(asked.questions[1]).toContain('question-7');
    expect(asked.answers).toEqual([7, 8, 9, 10, 11, 12].map((n) => `answer-${n}`));

    const [summary, ...others] = await summaries(conversationId, turns[14]?.revision);
    expect(others).toEqual([]);
    expect(summary).toMatchObject({ status: 'succeeded', parent: turns[5]?.head });
    const run = { summary: summary?.id, from: first(turns[0] as Turn), to: turns[5]?.head };
    expect(await foldedRuns(conversationId)).toEqual([{ nodeId: first(turns[12] as Turn), ...run }]);

    const bodies = await Promise.all(turns.map((turn) => replayOf(turn)));
    expect(bodies.every(({ verified }) => verified)).toBe(true);
    const open = (at: number) => bodies[at]?.body.slice(0, bodies[at].body.lastIndexOf(']')) ?? '';
    expect(bodies[13]?.body.startsWith(open(12)) && bodies[14]?.body.startsWith(open(13))).toBe(true);
    expect(bodies[12]?.body).not.toContain('question-3 ');
    const shown = bodies[12]?.parts.filter(({ what }) => what === 'summary') ?? [];
    expect(new Set(shown.map(({ nodeId }) => nodeId))).toEqual(new Set([summary?.id]));

    // A branch that grows from before the summary's end sees every word again, and no summary.
    const edited = await api.edit(conversationId, turns[2]?.turnId ?? '', say('another'));
    expect((await partOf(edited)).questions.map((text) => text.slice(0, 10))).toEqual(['question-1', 'question-2', '[[sim: say']); // prettier-ignore
    await api.switchTo(conversationId, turns[14]?.head ?? '');
    const again = await api.regenerate(conversationId, turns[14]?.turnId ?? '');
    expect((await partOf(again)).questions[0]).toContain('question-1');
    expect((await replayOf(again)).body).toBe(bodies[14]?.body);
  });
});

describe('a summary', () => {
  it('reads the ones before it and its own run, and no more; requests hold all of them in order', async () => {
    const conversationId = await api.conversation([], small);
    const turns = await talk(conversationId, 1, 6);
    const made = await summaries(conversationId, turns[5]?.revision);
    expect(made.map(({ parent }) => parent)).toEqual([turns[1]?.head, turns[3]?.head]);
    const second = requested((await api.replay(made[1]?.id ?? '')).body);
    expect(second.questions.map((text) => text.split(/[\s:]/)[0])).toEqual(['Summary', 'question-3', 'question-4', 'Summarise']); // prettier-ignore
    const last = await partOf(turns[5] as Turn);
    expect(last.questions.slice(0, 2)).toEqual([
      `${OPENING}Asked: question-1\nAnswered: answer-1\nAsked: question-2\nAnswered: answer-2`,
      `${OPENING}Asked: question-3\nAnswered: answer-3\nAsked: question-4\nAnswered: answer-4`,
    ]);
    expect(last.answers).toEqual(['answer-5']);
    const { nodeId } = await api.compact(conversationId);
    expect(requested((await api.replay(nodeId)).body).questions[0]).toContain('question-1');
  });

  it('is not told what is chit-chat, and says for ever what it left out', async () => {
    const conversationId = await api.conversation(['lookup'], small);
    const chat = await api.ask(conversationId, `NICE weather ${say('indeed')}`);
    const called = await api.ask(conversationId, `look [[sim: rounds=1 tool=lookup args={}]] ${say('LOOKED')}`);
    const tags: ItemTagging[] = [
      { nodeId: first(chat), item: 'sent/0', tag: 'chit-chat' },
      { nodeId: first(chat), item: 'received/0', tag: 'chit-chat' },
      { nodeId: called.nodes[1] ?? '', item: 'sent/0', tag: 'discarded' },
    ];
    const { engine, identities } = process.installation.running.system;
    const identity = await identities.find(conversationId);
    if (!identity) throw new Error('There is no such conversation.');
    const context = { actor: 'test', correlationId: conversationId };
    await engine.write(identity, { type: 'TagItems', tags, source: 'user' }, context);
    const third = await api.ask(conversationId, `question-3 ${say('answer-3')}`);
    await until(async () => (await summaries(conversationId)).some(({ status }) => status === 'succeeded'));
    const [summary] = await summaries(conversationId, third.revision);
    const { body } = await api.replay(summary?.id ?? '');
    expect(body).not.toMatch(/NICE|indeed|tool_call_id/);
    expect(body).toContain('LOOKED');
    expect(unpairedIn(body)).toEqual([]);
    const leftOut = (await requests(conversationId)).find(({ nodeId }) => nodeId === summary?.id)?.leftOut;
    expect(leftOut).toEqual([
      tags[0],
      tags[1],
      { nodeId: called.nodes[0], item: 'received/0', tag: 'discarded' },
      tags[2],
    ]);
  });

  it.each([
    ['is too long', say(words('long', 400)), 'unusable_answer'],
    ['is cut off', `[[sim: stop length]] ${say('half a')}`, 'unusable_answer'],
    ['fails', '[[sim: fail auth]]', 'auth'],
  ])('that %s changes nothing, and is not tried again at the same place', async (_how, directive, reason) => {
    const conversationId = await api.conversation([], {
      context: { ...small.context, summaries: { instruction: `Summarise. ${directive}`, maxTokens: 100 } },
    });
    const turns = await talk(conversationId, 1, 5);
    await until(async () => (await summaries(conversationId)).filter(({ status }) => status === 'failed').length === 3);
    const failed = await summaries(conversationId);
    expect(failed.map((node) => node.reason)).toEqual(Array(3).fill(reason));
    expect(failed.map(({ parent }) => parent)).toEqual([turns[1]?.head, turns[2]?.head, turns[3]?.head]);
    expect((await partOf(turns[4] as Turn)).answers).toHaveLength(4);
  });

  it('counts for an edit conversation of its source, which goes on from it', async () => {
    const source = await api.conversation([], small);
    await talk(source, 1, 4);
    const made = await api.makePlaybook(source);
    if (made.status !== 'created') throw new Error(made.error.detail);
    // A draft is made of the whole context, word by word.
    const drafted = requested((await api.replay(made.nodes[0] ?? '')).body).questions;
    expect(drafted.slice(0, 4).map((text) => text.split(' ')[0])).toEqual([1, 2, 3, 4].map((n) => `question-${n}`));
    const { conversationId } = await api.openEdit(made.playbookId);
    const turns = await talk(conversationId, 5, 8);
    const [inherited] = await summaries(source, made.revision);
    const own = (await requests(conversationId)).filter(({ kind }) => kind === 'summary');
    expect(own[0]).toMatchObject({ continues: inherited?.id });
    const shown = (await partOf(turns[3] as Turn)).questions.filter((text) => text.startsWith(OPENING));
    expect(shown[0]).toContain('Asked: question-1');
    expect(shown[1]).toContain('Asked: question-3');
  });
});

describe('the oldest turns leave', () => {
  const reasonsOf = async (conversationId: string) =>
    (await requests(conversationId)).flatMap((one) => (one.kind === 'summary' ? [one.segment] : []));

  it('by so many turns, where an assistant says so', async () => {
    const conversationId = await api.conversation([], { context: { window: null, pressure: null, everyTurns: 2 } });
    const turns = await talk(conversationId, 1, 6);
    expect(await reasonsOf(conversationId)).toEqual(['turns', 'turns']);
    const made = await summaries(conversationId, turns[5]?.revision);
    expect(made.map(({ parent }) => parent)).toEqual([turns[1]?.head, turns[3]?.head]);
    expect((await partOf(turns[5] as Turn)).answers).toEqual(['answer-5']);
  });

  it('by pressure: no request passes 70 % of the input cap, the one behind a summary has 40 % at most, and several turns pass before the next one', async () => {
    const model = { provider: 'simulated', name: 'simulated', inputCap: 4_000, maxOutputTokens: 300 } as const;
    const conversationId = await api.conversation([], { model, context: { window: null } });
    for (let n = 1; n <= 16; n += 1) await api.ask(conversationId, `${words(`word${n}`, 150)} ${say(`answer-${n}`)}`);
    expect(await reasonsOf(conversationId)).toEqual(['pressure', 'pressure']);
    const made = (await requests(conversationId)).map(({ kind, tokens }) => ({ kind, size: tokens?.estimated ?? NaN }));
    const behind = made.filter((_, at) => made[at - 1]?.kind === 'summary');
    for (const { size } of made) expect(size).toBeLessThanOrEqual(0.7 * model.inputCap);
    for (const { size } of behind) expect(size).toBeLessThanOrEqual(0.4 * model.inputCap);
  });
});

describe('while a summary is being made', () => {
  const briefly = { context: { ...small.context, summaries: { instruction: `Summarise. ${say('in short')}` } } };
  const statuses = async (conversationId: string) =>
    (await summaries(conversationId)).map(({ status }) => String(status));

  /** Three turns, and the summary of two of them that is out until it is let go, all at one process. */
  async function told() {
    const conversationId = await api.conversation([], briefly);
    const held = deployment.requests.hold((body) => body.includes('Summarise. '));
    const turns = await talk(conversationId, 1, 3, api.at(process));
    await until(async () => (await requests(conversationId)).some(({ kind }) => kind === 'summary'));
    return { conversationId, turns, held };
  }

  /** Nobody makes it any more, and what broke over it is not said again at every sweep. */
  async function comesToRest(logged: number): Promise<void> {
    const { work } = process.installation.running.system;
    await until(() => work.carriers.length === 0);
    const broken = () => linesOf(process).slice(logged).filter(({ level }) => level === 'error').length; // prettier-ignore
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(broken()).toBeLessThanOrEqual(2);
    expect((await api.send('GET', '/readyz')).status).toBe(200);
  }

  it('by one process, a question to another waits for it; of two at the same instant one makes it', async () => {
    const other = await deployment.start();
    const { conversationId, turns, held } = await told();
    const asked = api.at(other).ask(conversationId, `question-4 ${say('answer-4')}`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    held.open();
    const fourth = await asked;
    const [summary] = await summaries(conversationId, fourth.revision);
    expect(await statuses(conversationId)).toEqual(['succeeded']);
    expect((await partOf(fourth)).questions[0]).toBe(`${OPENING}in short`);
    const run = { summary: summary?.id, from: first(turns[0] as Turn), to: turns[1]?.head };
    expect(await foldedRuns(conversationId)).toEqual([{ nodeId: first(fourth), ...run }]);

    const twice = await api.conversation([], { context: { window: null, pressure: null } });
    const [, second] = await talk(twice, 1, 3);
    const made = await Promise.all(
      [process, other].map(async ({ installation }, at) => {
        const { identities, work, newId } = installation.running.system;
        const identity = await identities.find(twice);
        if (!identity) throw new Error('There is no such conversation.');
        const ids = { nodeId: newId(), carrier: newId() };
        const instruction = `Summarise. [[sim: stall ms=300 after=0]] ${say(`summary-${at}`)}`;
        const command = { type: 'RequestSummary', ...ids, instruction, parent: second?.head ?? '', segment: 'window' } as const; // prettier-ignore
        const requested = await work.request(identity, command, 'test');
        return requested.ok && 'outcome' in requested ? requested.outcome : requested;
      }),
    );
    const [ended] = made.flatMap((one) => ('status' in one ? [String(one.revision)] : []));
    const [one] = await summaries(twice, ended);
    expect(made).toContainEqual(
      expect.objectContaining({ known: expect.objectContaining({ nodeId: one?.id }) as unknown }),
    );
    expect(made).toContainEqual(expect.objectContaining({ status: 'succeeded', nodeId: one?.id }));
    await other.close();
  });

  it('a clear leaves it where it is: no later request holds it, and no later summary goes on from it', async () => {
    const { conversationId, held } = await told();
    await api.clear(conversationId);
    held.open();
    const turns = await talk(conversationId, 4, 6);
    await until(async () => (await statuses(conversationId)).join() === 'succeeded,succeeded');
    turns.push(...(await talk(conversationId, 7, 7)));
    for (const turn of turns) expect((await replayOf(turn)).body).not.toMatch(/question-[123]/);
    const [before, after] = (await requests(conversationId)).filter(({ kind }) => kind === 'summary');
    expect(after).not.toHaveProperty('continues');
    expect((await api.replay(after?.nodeId ?? '')).body).not.toMatch(/question-[123]/);
    expect(await foldedRuns(conversationId)).toMatchObject([{ summary: after?.nodeId }]);
    expect(before?.nodeId).not.toBe(after?.nodeId);
  });

  it.each([
    ['a delete', (conversationId: string) => api.remove(conversationId)],
    [
      'the end of its key',
      (conversationId: string) => process.installation.running.system.keys.destroy(conversationKeyId(conversationId)),
    ],
  ])('%s ends it, nothing of it is stored, and the process goes on', async (_what, end) => {
    const { conversationId, held } = await told();
    const logged = process.log.length;
    await end(conversationId);
    held.open();
    await comesToRest(logged);
    const { store } = process.installation.running.system;
    const types: string[] = [];
    for await (const { type } of store.readStream(`conversation-${conversationId}`)) types.push(type);
    expect(types.lastIndexOf('CallSucceeded')).toBeLessThan(types.lastIndexOf('CallRequested'));
    expect((await api.at(process).send('GET', `/v1/conversations/${conversationId}/tree`)).status).toBe(410);
  });
});

describe('too many summaries', () => {
  it('are compacted into one, for what they are', async () => {
    const summarising = { instruction: `Summarise. ${say(words('said', 60))}`, maxTokens: 100, totalTokens: 100 };
    const conversationId = await api.conversation([], {
      context: { ...small.context, summaries: summarising },
      compaction: { instruction: `Summarise. ${say('all of it')}` },
    });
    await talk(conversationId, 1, 5);
    const compactionOf = async () => (await api.tree(conversationId)).nodes.find(({ kind }) => kind === 'compaction');
    await until(async () => (await compactionOf())?.status === 'succeeded');
    const compacting = (await requests(conversationId)).find(({ kind }) => kind === 'compaction');
    expect(compacting).toMatchObject({ reason: 'summaries' });
    const after = await talk(conversationId, 6, 7);
    const asked = await Promise.all(after.map(partOf));
    expect(asked.map(({ questions }) => questions[0])).toEqual(Array(2).fill(`${OPENING}all of it`));
    expect(asked[1]?.answers).toEqual(['answer-6']);
  });
});

describe('a request that is too large', () => {
  const model = { provider: 'simulated', name: 'simulated', inputCap: 2_000, maxOutputTokens: 300 } as const;
  const context = { window: null, pressure: null } as const;

  it('has the oldest turns summarised at its start, and its own question stays as it is', async () => {
    const conversationId = await api.conversation([], { model, context });
    const before = [
      await api.ask(conversationId, `${words('one', 600)} ${say('first')}`),
      await api.ask(conversationId, `${words('two', 600)} ${say('second')}`),
    ];
    const question = `${words('three', 700)} ${say('third')}`;
    const turn = await api.ask(conversationId, question);
    expect(turn).toMatchObject({ status: 'completed', answer: 'third' });
    const [summary] = await summaries(conversationId, turn.revision);
    expect(summary).toMatchObject({ status: 'succeeded', parent: before[0]?.head });
    const { questions } = await partOf(turn);
    expect(questions).toEqual([expect.stringContaining(OPENING), expect.stringContaining('two two'), question]);
  });

  it('is refused where the summaries fail, and says so; so does a diagnosis', async () => {
    const conversationId = await api.conversation([], {
      model,
      context: { ...context, summaries: { instruction: `Summarise. ${say(words('long', 200))}`, maxTokens: 100 } },
    });
    await api.ask(conversationId, `${words('one', 600)} ${say('first')}`);
    const before = await api.ask(conversationId, `${words('two', 600)} ${say('second')}`);
    const refused = await api.ask(conversationId, `${words('three', 700)} ${say('third')}`);
    const [failed, ...others] = await summaries(conversationId, refused.revision);
    expect([failed?.reason, others]).toEqual(['unusable_answer', []]);
    const last = { nodeId: failed?.id, reason: 'unusable_answer' };
    expect(refused).toMatchObject({ status: 'failed', error: { code: 'context_overflow' } });
    expect(refused.error?.detail).toContain(
      `A summary of earlier turns failed, as node ${last.nodeId} (${last.reason})`,
    );
    const { historyTooLong } = await api.diagnosis(before.head ?? '', refused.revision);
    expect(historyTooLong.evidence).toMatchObject([{ failedSummaries: { count: 1, last } }]);
    expect(await api.ask(conversationId, say('on'))).toMatchObject({ status: 'completed' });
  });

  it('has them summarised in the middle of a turn too, whose rounds stay', async () => {
    const conversationId = await api.conversation(['lookup'], { model: { ...model, inputCap: 3_200 }, context });
    const before = await api.ask(conversationId, `${words('one', 1_200)} ${say('first')}`);
    const long = JSON.stringify({ note: words('note', 800) });
    const turn = await api.ask(conversationId, `look [[sim: call lookup ${long}]] ${say('done')}`);
    expect(turn).toMatchObject({ status: 'completed', answer: 'done' });
    const [summary] = await summaries(conversationId, turn.revision);
    expect(summary).toMatchObject({ status: 'succeeded', parent: before.head });
    const [start, end] = [(await replayOf(turn)).body, (await replayOf(turn, -1)).body];
    expect([start, end].map((body) => body.includes(words('one', 300)))).toEqual([true, false]);
    expect(unpairedIn(end)).toEqual([]);
    expect(requested(end).questions.at(-1)).toContain('note note');
    expect(await foldedRuns(conversationId)).toMatchObject([{ nodeId: turn.nodes[1], summary: summary?.id }]);
  });

  it('K15: that prompt and question alone make so is refused with both numbers, and nothing is tried', async () => {
    const conversationId = await api.conversation([], { model, systemPrompt: words('rule', 1_900), context: {} });
    await api.ask(conversationId, say('first'));
    const turn = await api.ask(conversationId, `${words('more', 300)} ${say('second')}`);
    expect(turn).toMatchObject({ status: 'failed', error: { code: 'context_overflow' } });
    expect(turn.error?.detail).toMatch(/about \d+ tokens.*the model takes 2000/);
    expect(await summaries(conversationId, turn.revision)).toEqual([]);
  });

  it('K15: is refused after one attempt where the summariser fails, and each turn may try once', async () => {
    const summarising = { summaries: { instruction: 'Summarise. [[sim: fail auth]]' } };
    const conversationId = await api.conversation([], { model, context: { ...context, ...summarising } });
    await api.ask(conversationId, `${words('one', 1_200)} ${say('first')}`);
    for (let n = 1; n <= 2; n += 1) {
      const turn = await api.ask(conversationId, `${words('two', 900)} ${say('second')}`);
      expect(turn).toMatchObject({ status: 'failed', error: { code: 'context_overflow' } });
      expect(await summaries(conversationId, turn.revision)).toHaveLength(n);
    }
    expect(await api.ask(conversationId, say('short'))).toMatchObject({ status: 'completed' });
  });
});

describe('a back-test', () => {
  it('by what each assistant of this installation keeps to changes no byte of any request', async () => {
    const { items } = await api.conversations('?limit=200');
    const assistants = [...new Set(items.map(({ assistantId }) => assistantId))];
    const pages = await Promise.all(assistants.map((assistantId) => api.backtest({ assistantId })));
    expect(pages.reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThan(60);
    for (const page of pages) expect(page).toMatchObject({ changed: 0, items: [], tooLarge: 0 });
    for (const { bytes, tokens } of pages) expect([bytes.after, tokens.after]).toEqual([bytes.before, tokens.before]);
  });
});

it('the read models are as a rebuild makes them', async () => {
  expect(await deployment.faultsOfReadModels(process)).toEqual([]);
});
