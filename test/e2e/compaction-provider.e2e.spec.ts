import type { Turn } from '../support/client';
import { requested } from '../support/client-requests';
import { eventsOf } from '../support/installation';
import { api, deployment, process, say } from '../support/one-process';

const model = { provider: 'simulated', name: 'simulated-anthropic' } as const;
/** More than the least that the provider compacts, of 50,000 tokens. */
const LONG = 'squares '.repeat(26_000);
const BETA = 'compact-2026-01-12';

/** A conversation whose assistant leaves compactions to its provider, and has a second version of another provider. */
async function begin() {
  const { assistantId } = await api.assistant({ model, compaction: { by: 'provider' } });
  const { conversationId } = await api.start({ assistantId });
  await api.assistant({ assistantId });
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

  it('the read models are as a rebuild makes them', async () => {
    expect(await deployment.faultsOfReadModels(process)).toEqual([]);
  });
});
