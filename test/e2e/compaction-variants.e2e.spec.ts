import { type Turn, until } from '../support/client';
import { requested } from '../support/client-requests';
import { eventsOf } from '../support/installation';
import { api, deployment, process, say } from '../support/one-process';

const model = { provider: 'simulated', name: 'simulated-anthropic' } as const;
/** More than the least that the provider compacts, of 50,000 tokens. */
const LONG = 'squares '.repeat(26_000);
const BETA = 'compact-2026-01-12';
/** Has a summariser say one thing. */
const SUMMARISE = `Summarise. ${say('the person likes blue')}`;

/** A conversation whose assistant leaves compactions to its provider, and has a second version of another provider. */
async function begin(more: Parameters<typeof api.assistant>[0] = {}, then = more) {
  const { assistantId } = await api.assistant({ ...more, model, compaction: { by: 'provider' } });
  const { conversationId } = await api.start({ assistantId });
  await api.assistant({ ...then, assistantId });
  return conversationId;
}

const replayOf = ({ nodes }: Turn) => api.replay(nodes[0] ?? '');
const headersOf = (body: string) =>
  deployment.model.captures.find((capture) => capture.body.toString('utf8') === body)?.headers ?? {};
const expansionsIn = async (conversationId: string) =>
  (await eventsOf(process, conversationId)).flatMap((event) => (event.type === 'ContextExpanded' ? [event.data] : []));
const BLOCK = /"messages":\[\{"role":"assistant","content":\[\{"type":"compaction","content":"Asked: I like BLUE/;

describe('a compaction by the provider', () => {
  it('later turns begin with its block as it came; another provider sees what it stands for; the first one the block again', async () => {
    const conversationId = await begin();
    const first = await api.ask(conversationId, `I like BLUE ${say('noted')}`);
    const before = await api.ask(conversationId, `${LONG} ${say('noted too')}`);
    const compacted = await api.compact(conversationId);
    expect(compacted).toMatchObject({ status: 'succeeded', head: compacted.nodeId });
    const asked = await api.replay(compacted.nodeId);
    expect(asked.verified).toBe(true);
    expect(JSON.parse(asked.body)).toMatchObject({
      context_management: { edits: [{ type: 'compact_20260112', pause_after_compaction: true }] },
    });
    expect(headersOf(asked.body)).toMatchObject({ 'anthropic-beta': BETA });
    expect(headersOf((await replayOf(before)).body)).not.toHaveProperty('anthropic-beta');
    expect(requested(asked.body)).toMatchObject({ answers: ['noted', 'noted too'] });

    const after = await api.ask(conversationId, `and now? ${say('on')}`);
    const { body, parts } = await replayOf(after);
    expect(body).toMatch(BLOCK);
    expect(headersOf(body)).toMatchObject({ 'anthropic-beta': BETA });
    expect(body).not.toMatch(/squares squares squares squares[^"]{400}/);
    expect(requested(body)).toMatchObject({ questions: [`and now? ${say('on')}`], answers: [] });
    const summaries = parts.filter(({ what }) => what === 'summary');
    expect(summaries).not.toEqual([]);
    expect(summaries.every(({ nodeId }) => nodeId === compacted.nodeId)).toBe(true);
    expect(await expansionsIn(conversationId)).toEqual([]);

    const moved = await api.ask(conversationId, `elsewhere ${say('there')}`, { assistantVersion: 2 });
    expect(requested((await replayOf(moved)).body)).toEqual({
      ...{ calls: [], results: [] },
      questions: [
        `I like BLUE ${say('noted')}`,
        `${LONG} ${say('noted too')}`,
        `and now? ${say('on')}`,
        `elsewhere ${say('there')}`,
      ],
      answers: ['noted', 'noted too', 'on'],
    });
    const expansion = { nodeId: moved.nodes[0], compaction: compacted.nodeId };
    expect(await expansionsIn(conversationId)).toEqual([expansion]);
    const types = (await eventsOf(process, conversationId)).map(({ type }) => type);
    expect(types[types.indexOf('ContextExpanded') + 1]).toBe('CallRequested');
    const tree = await api.tree(conversationId, moved.revision);
    expect(tree.nodes.at(-1)).toMatchObject({ id: moved.head, parent: after.head });

    const again = await api.ask(conversationId, `and here ${say('back')}`);
    const here = (await replayOf(again)).body;
    expect(here).toMatch(BLOCK);
    expect(requested(here).answers).toEqual(['on', 'there']);
    expect(await expansionsIn(conversationId)).toHaveLength(1);

    expect(first.head).toBe(first.nodes[0]);
    for (const { id } of (await api.tree(conversationId, again.revision)).nodes)
      expect(await api.replay(id)).toMatchObject({ verified: true });
  });

  it('a second one expands into the first and that into what was said; a process that starts anew does the same', async () => {
    const conversationId = await begin();
    await api.ask(conversationId, `I like BLUE ${LONG} ${say('noted')}`);
    const one = await api.compact(conversationId);
    await api.ask(conversationId, `${LONG} ${say('noted too')}`);
    const two = await api.compact(conversationId);
    expect((await api.replay(two.nodeId)).body).toMatch(BLOCK);
    const other = await deployment.start();
    const moved = await api.at(other).ask(conversationId, `elsewhere ${say('there')}`, { assistantVersion: 2 });
    expect(requested((await replayOf(moved)).body).questions).toEqual([
      `I like BLUE ${LONG} ${say('noted')}`,
      `${LONG} ${say('noted too')}`,
      `elsewhere ${say('there')}`,
    ]);
    const [nodeId] = moved.nodes;
    expect(await expansionsIn(conversationId)).toEqual([
      { nodeId, compaction: two.nodeId },
      { nodeId, compaction: one.nodeId },
    ]);
    expect(await replayOf(moved)).toMatchObject({ verified: true });
  });

  describe('with summaries of parts', () => {
    const parts = { context: { window: null, pressure: null, everyTurns: 1 } };
    const summarised = (conversationId: string, count: number) =>
      until(async () => {
        const { nodes } = await api.tree(conversationId);
        return nodes.filter(({ kind, status }) => kind === 'summary' && status === 'succeeded').length === count;
      });

    it('another provider sees all that it stands for, word by word, though a part behind it was summarised', async () => {
      const conversationId = await begin(parts, { context: { window: null, pressure: null } });
      await api.ask(conversationId, `I like BLUE ${LONG} ${say('noted')}`);
      await api.compact(conversationId);
      for (const name of ['one', 'two']) await api.ask(conversationId, `${name} ${say(`answer ${name}`)}`);
      await summarised(conversationId, 1);
      const moved = await api.ask(conversationId, `elsewhere ${say('there')}`, { assistantVersion: 2 });
      expect(requested((await replayOf(moved)).body).answers).toEqual(['noted', 'answer one', 'answer two']);
    });

    it('a process that starts anew reads the runs on both sides of it where a draft is to hold them whole', async () => {
      const conversationId = await begin(parts);
      await api.ask(conversationId, `I like BLUE ${say('noted')}`);
      await api.ask(conversationId, `${LONG} ${say('noted too')}`);
      await summarised(conversationId, 1);
      await api.ask(conversationId, `three ${say('answer three')}`);
      await summarised(conversationId, 2);
      await api.compact(conversationId);
      await api.ask(conversationId, `four ${say('answer four')}`);
      await api.ask(conversationId, `five ${say('answer five')}`, { assistantVersion: 2 });
      await summarised(conversationId, 4);
      const last = await api.ask(conversationId, `six ${say('answer six')}`, { assistantVersion: 2 });
      expect(requested((await replayOf(last)).body).answers).toEqual(['answer five']);
      const transform = await api.at(await deployment.start()).makePlaybook(conversationId, {});
      expect(requested((await api.replay(transform.nodes[0] ?? '')).body).answers).toEqual(
        ['noted', 'noted too', ...['three', 'four', 'five', 'six'].map((name) => `answer ${name}`)], // prettier-ignore
      );
    });
  });

  it('a result that was folded in front of it is read on where another provider sees it expanded', async () => {
    const text = Array.from({ length: 100 }, (_, row) => `row ${row}: ${row * 7919}`).join('\n');
    deployment.tools.behave(() => ({ text }));
    const context = { window: null, pressure: null };
    const conversationId = await begin({ tools: [{ type: 'http', name: 'lookup' }], context });
    await api.ask(conversationId, `look it up [[sim: call lookup {}]] ${say('found')}`);
    await api.ask(conversationId, `${LONG} ${say('noted')}`);
    await api.compact(conversationId);
    const moved = await api.ask(conversationId, `[[sim: read]] ${say('read')}`, { assistantVersion: 2 });
    const [folded, page] = requested((await api.replay(moved.head ?? '')).body).results;
    expect(folded?.text).not.toContain(text);
    expect(page?.text).toContain(text);
  });

  it('an answer without the block changes nothing: so few tokens are not compacted', async () => {
    const conversationId = await begin();
    const before = await api.ask(conversationId, `keep THIS ${say('kept')}`);
    const failed = await api.compact(conversationId);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'unusable_answer' }, head: before.head });
    expect((await replayOf(await api.ask(conversationId, say('on')))).body).toContain('keep THIS');
  });

  it('is refused to an assistant whose provider has none, or whose summaries another model writes', async () => {
    const refused = { status: 400, code: 'validation_failed' };
    await expect(api.assistant({ compaction: { by: 'provider' } })).rejects.toMatchObject(refused);
    await expect(api.assistant({ model, compaction: { by: 'provider', model } })).rejects.toMatchObject(refused);
  });
});

describe('a compaction by the policy', () => {
  const small = { provider: 'simulated', name: 'simulated', inputCap: 2_000, maxOutputTokens: 300 } as const;
  const words = (text: string, count: number) => `${text} `.repeat(count);
  const compactions = async (conversationId: string, revision?: string) =>
    (await api.tree(conversationId, revision)).nodes.filter(({ kind }) => kind === 'compaction');

  it('K02: a request of five parts crosses the threshold, and the last question stays verbatim', async () => {
    const compaction = { at: 0.5, instruction: SUMMARISE };
    const conversationId = await api.conversation([], { model: small, compaction });
    await api.ask(conversationId, `${words('one', 300)} ${say('first')}`);
    const seen = await api.ask(conversationId, `${words('two', 300)} ${say('second')}`);
    expect(await compactions(conversationId, seen.revision)).toEqual([]);
    const question = `${words('three', 500)} ${say('third')}`;
    const turn = await api.ask(conversationId, question, { parent: seen.head ?? '' });
    expect(turn).toMatchObject({ status: 'completed', answer: 'third' });
    const [first] = await compactions(conversationId, turn.revision);
    expect(first).toMatchObject({ status: 'succeeded', origin: seen.head });
    expect(requested((await replayOf(turn)).body).questions).toEqual([expect.stringContaining('likes blue'), question]);
  });

  it('begins when a turn has ended, and a client that saw the head before goes on', async () => {
    const conversationId = await api.conversation([], {
      model: small,
      compaction: { at: 0.3, instruction: SUMMARISE },
    });
    const seen = await api.ask(conversationId, `${words('one', 700)} ${say('first')}`);
    await until(async () => (await compactions(conversationId)).some(({ status }) => status === 'succeeded'));
    const turn = await api.ask(conversationId, say('on'), { parent: seen.head ?? '' });
    expect(turn.status).toBe('completed');
    expect((await api.tree(conversationId, turn.revision)).nodes.map(({ kind }) => kind)).toEqual([
      'turn',
      'compaction',
      'turn',
    ]);
  });

  it('is what the version of a question wants, whatever was enough for the one before', async () => {
    const { assistantId } = await api.assistant({ model: small, compaction: { at: 0.9, instruction: SUMMARISE } });
    const { conversationId } = await api.start({ assistantId });
    await api.assistant({ assistantId, model: small, compaction: { at: 0.3, instruction: SUMMARISE } });
    const first = await api.ask(conversationId, `${words('one', 700)} ${say('first')}`, { assistantVersion: 1 });
    const turn = await api.ask(conversationId, say('on'), { assistantVersion: 2 });
    expect((await compactions(conversationId, turn.revision))[0]).toMatchObject({
      status: 'succeeded',
      origin: first.head,
    });
    expect(requested((await replayOf(turn)).body).questions).toEqual([
      expect.stringContaining('likes blue'),
      say('on'),
    ]);
  });

  it('that one process makes is waited for by a question to another', async () => {
    const other = await deployment.start();
    const instruction = `Summarise. [[sim: stall ms=700 after=0]] ${say('in short')}`;
    const conversationId = await api.conversation([], { model: small, compaction: { at: 0.3, instruction } });
    await api.at(process).ask(conversationId, `${words('one', 700)} ${say('first')}`);
    await until(async () => (await compactions(conversationId)).length > 0);
    const turn = await api.at(other).ask(conversationId, say('on'));
    expect(await compactions(conversationId, turn.revision)).toMatchObject([{ status: 'succeeded' }]);
    expect(requested((await replayOf(turn)).body).questions).toEqual([expect.stringContaining('in short'), say('on')]);
    await other.close();
  });

  it('K06: the summariser fails five times: each turn is answered, each failure is seen, and none is tried again', async () => {
    const compaction = { at: 0.2, instruction: 'Summarise. [[sim: fail auth]]' };
    const model = { ...small, inputCap: 20_000 };
    const conversationId = await api.conversation([], { model, compaction });
    await api.ask(conversationId, `${words('long', 5_000)} ${say('first')}`);
    for (let n = 1; n <= 5; n += 1) {
      await until(
        async () => (await compactions(conversationId)).filter(({ status }) => status === 'failed').length === n,
      );
      if (n < 5) expect(await api.ask(conversationId, say(`answer ${n}`))).toMatchObject({ answer: `answer ${n}` });
    }
    expect((await compactions(conversationId)).map(({ reason }) => reason)).toEqual(Array(5).fill('auth'));
    const { metrics } = process.installation;
    const counted = await metrics.registry.getSingleMetricAsString('palimpsest_work_calls_total');
    expect(counted).toMatch(/kind="compaction",outcome="auth"\} \d/);
  });

  it('does nothing where prompt and tools alone pass the threshold', async () => {
    const systemPrompt = words('rule', 900);
    const conversationId = await api.conversation([], { systemPrompt, model: small, compaction: { at: 0.2 } });
    await api.ask(conversationId, say('first'));
    const turn = await api.ask(conversationId, say('second'));
    expect(await compactions(conversationId, turn.revision)).toEqual([]);
  });
});

describe('a path that is larger than the summariser takes', () => {
  const summariserModel = { provider: 'simulated', name: 'simulated', inputCap: 1_200, maxOutputTokens: 100 } as const;

  it('is summarised in runs of whole turns, each on the summary before', async () => {
    const compaction = { model: summariserModel, instruction: SUMMARISE };
    const conversationId = await api.conversation([], { compaction });
    const turns: Turn[] = [];
    for (let n = 1; n <= 6; n += 1)
      turns.push(await api.ask(conversationId, `${`part-${n} `.repeat(220)} ${say(`answer-${n}`)}`));
    const compacted = await api.compact(conversationId);
    expect(compacted.status).toBe('succeeded');
    const { nodes } = await api.tree(conversationId, compacted.revision);
    const summaries = nodes.filter(({ kind }) => kind === 'summary');
    expect(summaries.length).toBeGreaterThan(1);
    const bodies = await Promise.all([...summaries.map(({ id }) => id), compacted.nodeId].map((id) => api.replay(id)));
    bodies.forEach(({ body, verified }, at) => {
      expect(verified).toBe(true);
      expect(body.includes('Summary of the conversation so far')).toBe(at > 0);
    });
    for (let n = 1; n <= 6; n += 1) expect(bodies.filter(({ body }) => body.includes(`part-${n} `))).toHaveLength(1);
    expect(nodes.at(-1)).toMatchObject({ kind: 'compaction', origin: turns[5]?.head });
    for (const { parent } of summaries) expect(turns.map(({ head }) => head)).toContain(parent);
    expect(requested((await replayOf(await api.ask(conversationId, say('on')))).body).questions).toHaveLength(2);
  });

  it('K10: fails as a whole where one of them fails, and nothing changes', async () => {
    const compaction = { model: summariserModel, instruction: 'Summarise. [[sim: fail auth]]' };
    const conversationId = await api.conversation([], { compaction });
    let last: Turn | undefined;
    for (let n = 1; n <= 6; n += 1) last = await api.ask(conversationId, `${`part-${n} `.repeat(120)} ${say('x')}`);
    const failed = await api.compact(conversationId);
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'auth' }, head: last?.head });
    const { nodes } = await api.tree(conversationId, failed.revision);
    expect(nodes.at(-1)).toMatchObject({ id: failed.nodeId, kind: 'summary', status: 'failed' });
  });
});

it('the read models are as a rebuild makes them', async () => {
  expect(await deployment.faultsOfReadModels(process)).toEqual([]);
});
