import { APPEND_LOCK } from '../../libs/event-store-postgres/src/schema';
import { until } from '../support/client';
import { requested, unpairedIn } from '../support/client-requests';
import { Deployment, eventsOf } from '../support/installation';
import { api, deployment, process } from '../support/one-process';
import { onPostgres } from '../support/test-log';

const openai = { provider: 'openai', name: 'gpt-4.1' } as const;
const anthropic = { provider: 'anthropic', name: 'claude-sonnet-4-5' } as const;

/** The request of a turn's node, counted from the first, or from the last where it is negative. */
async function requestOf(nodes: readonly string[], at: number): Promise<string> {
  return (await api.replay(nodes.at(at) ?? '')).body;
}

/** A turn that is cancelled while one of its calls, a write, has begun and not ended. The others have their results. */
async function cutShort(conversationId: string, question: string, done: number) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  deployment.tools.behave(async ({ name, arguments: given }) => {
    if (name === 'note') await released;
    return { text: `${name} ${JSON.stringify(given)}` };
  });
  const { turnId, frames } = await api.begin(conversationId, question);
  for (let results = 0; results < done; results += 1) await frames.until('tool.result');
  while (!deployment.tools.runs.some((run) => run.name === 'note' && run.toolCallId.startsWith(turnId)))
    await deployment.tools.arrival();
  const cancelled = await api.cancel(conversationId, turnId);
  return { turnId, cancelled, release };
}

describe('a turn with tools', () => {
  it('answers after several rounds, each of them a node with a request of its own', async () => {
    const conversationId = await api.conversation(['lookup']);
    const turn = await api.ask(conversationId, '[[sim: rounds=3 tool=lookup args={"n":1}]] [[sim: say done]]');

    expect(turn).toMatchObject({ status: 'completed', answer: 'done' });
    expect(turn.nodes).toHaveLength(4);
    expect(requested(await requestOf(turn.nodes, -1)).results.map(({ text }) => text)).toEqual(
      Array(3).fill('lookup {"n":1}'),
    );
    for (const node of turn.nodes) expect((await api.replay(node)).verified).toBe(true);
  });

  it('C03: eight tools that answer at the same instant give eight results', async () => {
    let arrived = 0;
    let all: () => void;
    const everybody = new Promise<void>((resolve) => (all = resolve));
    deployment.tools.behave(async ({ toolCallId }) => {
      arrived += 1;
      if (arrived === 8) all();
      await everybody;
      return { text: toolCallId };
    });
    const conversationId = await api.conversation(['lookup']);
    const turn = await api.ask(conversationId, '[[sim: parallel=8 tool=lookup args={}]] [[sim: say all]]');

    expect(turn).toMatchObject({ status: 'completed', answer: 'all' });
    const [first = ''] = turn.nodes;
    const texts = requested(await requestOf(turn.nodes, 1)).results.map(({ text }) => text);
    expect(texts).toEqual(Array.from({ length: 8 }, (_, index) => `${first}-${index}`));
    expect((await eventsOf(process, conversationId)).filter(({ type }) => type === 'ToolExecuted')).toHaveLength(8);
  });

  it('tells the model in a result when it calls a tool that does not exist or with arguments that do not fit', async () => {
    const conversationId = await api.conversation(['lookup', 'strict']);
    const runs = deployment.tools.runs.length;
    const turn = await api.ask(
      conversationId,
      '[[sim: call nowhere {}]] [[sim: call strict {"n":"two"}]] [[sim: call lookup {"broken]] [[sim: call strict {"n":2}]] [[sim: say so]]',
    );

    expect(turn).toMatchObject({ status: 'completed', answer: 'so' });
    const node = await api.node(turn.nodes[1] ?? '');
    const results = node.sent.map((item) => (item.type === 'tool_result' ? item : undefined));
    expect(results.map((item) => item?.synthetic)).toEqual(['invalid', 'invalid', 'invalid', undefined]);
    expect(results[0]?.text).toContain('There is no tool named "nowhere"');
    expect(deployment.tools.runs.slice(runs).map(({ raw }) => JSON.parse(raw).arguments)).toEqual([{ n: 2 }]);
  });

  it('gives a tool that failed to the model as a result, and goes on', async () => {
    deployment.tools.behave(() => ({ status: 500, text: 'out of order' }));
    const conversationId = await api.conversation(['lookup']);
    const turn = await api.ask(conversationId, '[[sim: call lookup {}]] [[sim: echo]]');

    expect(turn).toMatchObject({ status: 'completed', answer: 'The tool answered 500: out of order' });
  });
});

describe('calls and results of a turn that was cut short', () => {
  it('T01: of two calls one has a result and a new question comes: the next request pairs both, and the turn succeeds', async () => {
    const conversationId = await api.conversation(['lookup', 'note']);
    const cut = await cutShort(conversationId, '[[sim: call lookup {"a":1}]] [[sim: call note {"b":2}]]', 1);
    expect(cut.cancelled).toMatchObject({ status: 'cancelled', answer: null, openCalls: [`${cut.turnId}-1-1`] });
    const unknownOutcomes = [{ toolCallId: `${cut.turnId}-1-1`, name: 'note' }];
    expect(cut.cancelled).toMatchObject({ unknownOutcomes });
    const shown = async (revision: string) => (await api.transcript(conversationId, revision)).bubbles[1];
    expect(await shown(cut.cancelled.revision)).toMatchObject({ role: 'assistant', unknownOutcomes });

    const next = await api.ask(conversationId, 'and now? [[sim: say well]]');
    cut.release();

    expect(next).toMatchObject({ status: 'completed', answer: 'well' });
    expect(await shown(next.revision)).toMatchObject({ role: 'assistant', unknownOutcomes });
    const body = await requestOf(next.nodes, 0);
    expect(unpairedIn(body)).toEqual([]);
    const { results, questions } = requested(body);
    expect(results[0]?.text).toBe('lookup {"a":1}');
    expect(results[1]?.text).toMatch(/outcome (is )?unknown|not known|may still/i);
    expect(questions.at(-1)).toContain('and now?');
    expect(deployment.tools.effectsOf(`${cut.turnId}-1-1`)).toBe(1);
  });

  it('T03: the same history is valid for OpenAI and for Anthropic, with a gap repaired for both', async () => {
    const tools = ['lookup', 'note'].map((name) => ({ type: 'http', name }) as const);
    const { assistantId } = await api.assistant({ tools, model: openai });
    await api.assistant({ assistantId, tools, model: anthropic });
    const { conversationId } = await api.start({ assistantId, version: 1 });
    const cut = await cutShort(conversationId, '[[sim: call lookup {"a":1}]] [[sim: call note {"b":2}]]', 1);

    const first = await api.ask(conversationId, 'go on [[sim: say one]]', { assistantVersion: 1 });
    await api.switchTo(conversationId, cut.cancelled.head ?? '').catch(() => undefined);
    const second = await api.ask(conversationId, 'go on [[sim: say two]]', { assistantVersion: 2 });
    cut.release();

    expect([first, second]).toMatchObject([
      { status: 'completed', answer: 'one' },
      { status: 'completed', answer: 'two' },
    ]);
    const [chat, messages] = [await requestOf(first.nodes, 0), await requestOf(second.nodes, 0)];
    expect([unpairedIn(chat), unpairedIn(messages)]).toEqual([[], []]);
    expect(
      requested(messages)
        .results.slice(0, 2)
        .map(({ text }) => text),
    ).toEqual(requested(chat).results.map(({ text }) => text));
  });

  it('T07: three calls, two done, cancelled, a new question: the two do not run again, and their results are sent', async () => {
    const conversationId = await api.conversation(['lookup', 'note']);
    const cut = await cutShort(
      conversationId,
      '[[sim: call lookup {"n":1}]] [[sim: call lookup {"n":2}]] [[sim: call note {"n":3}]]',
      2,
    );
    const next = await api.ask(conversationId, 'go on [[sim: echo]]');
    cut.release();

    expect(next.status).toBe('completed');
    const { results } = requested(await requestOf(next.nodes, 0));
    expect(results.slice(0, 2).map(({ text }) => text)).toEqual(['lookup {"n":1}', 'lookup {"n":2}']);
    const calls = [0, 1, 2].map((index) => deployment.tools.effectsOf(`${cut.turnId}-1-${index}`));
    expect(calls).toEqual([1, 1, 1]);
  });

  it('records a result that comes after the cancel, for whoever asks next', async () => {
    const conversationId = await api.conversation(['note']);
    const cut = await cutShort(conversationId, '[[sim: call note {"late":true}]]', 0);
    cut.release();
    const toolCallId = `${cut.turnId}-1-0`;
    await until(async () => (await eventsOf(process, conversationId)).some(({ type }) => type === 'ToolExecuted'));

    const next = await api.ask(conversationId, 'did it work? [[sim: say yes]]');

    const { results } = requested(await requestOf(next.nodes, 0));
    expect(results.map(({ text }) => text)).toEqual(['note {"late":true}']);
    expect(await api.turn(conversationId, cut.turnId)).toMatchObject({ status: 'cancelled' });
    expect(deployment.tools.effectsOf(toolCallId)).toBe(1);
  });
});

it('T09: a tool ran and saving its result failed once: the result is stored on the next try, and the tool ran once', async () => {
  // How appends are made to fail is of the Postgres log; eventstoredb.e2e.spec.ts has the same for the other store.
  const own = await Deployment.open(onPostgres);
  try {
    const carrier = await own.start();
    const client = await own.client(carrier);
    const writer = await own.pool.connect();
    own.tools.behave(async () => {
      // Nothing can be appended from here on, so the result's append waits inside Postgres.
      await writer.query(`select pg_advisory_lock(${APPEND_LOCK})`);
      return { text: 'paid for' };
    });
    const conversationId = await client.conversation(['note']);
    const { turnId, frames } = await client.begin(conversationId, '[[sim: call note {"save":1}]] [[sim: echo]]');
    const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
    await until(async () => (await own.pool.query(waiting)).rows.length > 0);
    const killed = await own.pool.query(`select pg_terminate_backend(pid) from (${waiting}) as w`);
    await writer.query(`select pg_advisory_unlock(${APPEND_LOCK})`);
    writer.release();

    const ending = (await frames.rest()).at(-1);
    expect(ending).toMatchObject({ event: 'turn.finished', data: { status: 'completed', answer: 'paid for' } });
    expect(own.tools.effectsOf(`${turnId}-1-0`)).toBe(1);
    expect(killed.rowCount).toBe(1);
    expect((await eventsOf(carrier, conversationId)).filter(({ type }) => type === 'ToolExecuted')).toHaveLength(1);
  } finally {
    await own.close();
  }
});

it('T12: one rule pairs every kind of tool block, the provider’s own web search among them', async () => {
  const tools = ['lookup', 'note'].map((name) => ({ type: 'http', name }) as const);
  const { assistantId } = await api.assistant({ tools, model: anthropic });
  await api.assistant({ assistantId, tools, model: openai });
  const { conversationId } = await api.start({ assistantId, version: 1 });
  const whole = await api.ask(
    conversationId,
    '[[sim: think hard]] [[sim: redacted]] [[sim: search]] [[sim: call lookup {"a":1}]] [[sim: say found]]',
  );
  const cut = await cutShort(conversationId, '[[sim: search]] [[sim: call lookup {"b":1}]] [[sim: call note {}]]', 1);
  const own = await api.ask(conversationId, 'go on [[sim: search]] [[sim: say here]]');
  const other = await api.ask(conversationId, 'go on [[sim: say there]]', { assistantVersion: 2 });
  cut.release();

  expect([whole, own, other].map(({ status }) => status)).toEqual(Array(3).fill('completed'));
  const [messages, chat] = [await requestOf(own.nodes, 0), await requestOf(other.nodes, 0)];
  expect([unpairedIn(messages), unpairedIn(chat)]).toEqual([[], []]);
  expect(messages.match(/"type":"server_tool_use"/g)).toHaveLength(2);
  expect(messages.match(/"type":"web_search_tool_result"/g)).toHaveLength(2);
  expect(chat).not.toContain('web_search');
});

it('every shipped projection is what a rebuild makes of the log', async () => {
  expect(await deployment.faultsOfReadModels(process)).toEqual([]);
});
