import { createHash } from 'node:crypto';
import type { Lineage, Turn } from '../support/client';
import { api, deployment, process, say } from '../support/one-process';
import { palimpsest } from './cli-process';

const WRONG = 'WRONG-PRICE-LIST';
const last = <T>(items: readonly T[]): T => items.at(-1) as T;
const lookUp = '[[sim: call lookup {"q":"prices"}]]';
/** A summariser that says what it was told to. */
const summarises = { compaction: { instruction: `Summarise. ${say('prices were talked about')}` } };

const told = ({ heldBy }: Lineage) =>
  (heldBy?.items ?? []).map(({ nodeId, kind, final, current, via }) => ({ nodeId, kind, final, current, via }));
const answerOf = (turn: Turn, current: boolean, via: readonly string[]) => ({
  ...{ nodeId: last(turn.nodes), kind: 'turn', final: true, current, via },
});
const upTo = ({ position }: Turn) => `minPosition=${position}`;

/** A conversation that looked up a list of prices, and what came of it. */
async function story() {
  deployment.tools.behave(() => ({ text: WRONG }));
  const source = await api.conversation(['lookup'], summarises);
  const before = await api.ask(source, `What do you sell? ${say('prices')}`);
  const first = await api.ask(source, `What does it cost? ${lookUp} ${say('ten')}`);
  const toolCallId = last(deployment.tools.runs).toolCallId;
  const second = await api.ask(source, `And two? ${say('twenty')}`);
  return { source, before, first, second, toolCallId };
}

describe('which answers rested on the wrong price list?', () => {
  it('is told over branches, an edit conversation and a summary, and by what the requests’ bytes hold', async () => {
    const { source, before, first, second, toolCallId } = await story();
    // The question of the list is edited: this branch never saw it.
    deployment.tools.behave(() => ({ text: 'the right list' }));
    const edited = await api.edit(source, first.turnId, `What does it cost today? ${lookUp} ${say('five')}`);
    await api.switchTo(source, last(second.nodes));
    const made = await api.makePlaybook(source);
    if (made.status !== 'created') throw new Error(made.error.detail);
    const { conversationId: edit } = await api.openEdit(made.playbookId);
    const grown = await api.ask(edit, `Make it shorter ${say('short')}`);
    const compacted = await api.compact(source);
    const after = await api.ask(source, `And three? ${say('thirty')}`);
    const lineage = await api.lineage(`toolCall=${toolCallId}&${upTo(after)}`);

    const drafts = made.nodes.map((nodeId) => ({ nodeId, kind: 'transform', final: true, current: false, via: ['verbatim'] })); // prettier-ignore
    const compaction = { nodeId: compacted.nodeId, kind: 'compaction', final: true, current: true, via: ['verbatim'] };
    const expected = [
      ...[answerOf(first, true, ['verbatim']), answerOf(second, true, ['verbatim']), ...drafts, compaction],
      ...[answerOf(after, true, ['summary']), answerOf(grown, true, ['verbatim'])],
    ];
    expect(told(lineage)).toEqual(expected);
    expect(lineage.heldBy?.items.find(({ nodeId }) => nodeId === last(after.nodes))).toMatchObject({
      ...{ conversationId: source, turnId: after.turnId, summaries: [compacted.nodeId] },
    });
    // The bytes say the same of each request there is.
    const all = [before, first, second, edited, after, grown].flatMap(({ nodes }) => nodes);
    const verbatim = new Set(
      told(lineage)
        .filter(({ via }) => via.includes('verbatim'))
        .map(({ nodeId }) => nodeId),
    );
    for (const nodeId of [...all, compacted.nodeId, ...made.nodes])
      expect([nodeId, (await api.replay(nodeId)).body.includes(WRONG)]).toEqual([nodeId, verbatim.has(nodeId)]);

    // By the text itself, by its first answer, page by page, and from a terminal, it is the same list.
    const sha256 = createHash('sha256').update(WRONG).digest('hex');
    expect(told(await api.lineage(`digest=${sha256}&${upTo(after)}`))).toEqual(expected);
    const byAnswer = await api.lineage(`node=${last(first.nodes)}`);
    expect(told(byAnswer).map(({ nodeId }) => nodeId)).toEqual(expected.slice(1).map(({ nodeId }) => nodeId));
    const paged: unknown[] = [];
    for (let next: string | null | undefined = ''; next !== null && next !== undefined;) {
      const page = await api.lineage(`toolCall=${toolCallId}&limit=2${next && `&cursor=${next}`}`);
      paged.push(...told(page));
      next = page.heldBy?.next;
    }
    expect(paged).toEqual(expected);
    const settings = { PALIMPSEST_URL: process.url, PALIMPSEST_API_KEY: api.apiKey };
    const [json, text, wrong] = await Promise.all([
      palimpsest(['lineage', '--tool-call', toolCallId, '--json'], settings),
      palimpsest(['lineage', '--node', last(after.nodes)], settings),
      palimpsest(['lineage'], settings),
    ]);
    expect(json).toMatchObject({ end: 0, err: '' });
    expect(told(JSON.parse(json.out) as Lineage)).toEqual(expected);
    expect(text).toMatchObject({ end: 0, err: '' });
    expect(text.out).toMatch(
      /^No answers held it\.\nIt rested itself on:\n {2}assistant_version \S+ version 1: verbatim, summary/,
    );
    expect(text.out).toContain(`  tool_result lookup ${toolCallId}: summary ${compacted.nodeId}\n`);
    expect(wrong).toMatchObject({ end: 2, out: '', err: expect.stringMatching(/^Name one thing to ask about/) });

    // The other way round: what the last answer rested on, through the summary.
    const rests = (await api.lineage(`node=${last(after.nodes)}`)).restsOn?.items ?? [];
    const through = { via: ['summary'], summaries: [compacted.nodeId] };
    expect(rests).toMatchObject([
      { type: 'assistant_version', version: 1, via: ['verbatim', 'summary'] },
      { type: 'summary', nodeId: compacted.nodeId, via: ['verbatim'] },
      { type: 'user', turnId: before.turnId, ...through },
      { type: 'assistant', nodeId: last(before.nodes), ...through },
      { type: 'user', turnId: first.turnId, ...through },
      { type: 'assistant', nodeId: first.nodes[0], ...through },
      { type: 'tool_result', toolCallId, tool: 'lookup', nodeId: first.nodes[0], ...through },
      { type: 'assistant', nodeId: last(first.nodes), ...through },
      { type: 'user', turnId: second.turnId, ...through },
      { type: 'assistant', nodeId: last(second.nodes), ...through },
      { type: 'instruction', nodeId: compacted.nodeId, ...through },
      { type: 'user', turnId: after.turnId, nodeId: after.nodes[0], via: ['verbatim'] },
    ]);
    const draft = await api.lineage(`playbook=${made.playbookId}`);
    expect(told(draft)).toEqual([]);
    expect(draft.restsOn?.items.filter(({ type }) => type === 'tool_result')).toMatchObject([{ toolCallId }]);

    // What is gone is in no list: of the process that took it away from that moment on.
    const here = api.at(process);
    await here.remove(edit);
    expect(told(await here.lineage(`toolCall=${toolCallId}`))).toEqual(expected.slice(0, -1));
  });

  it('G10: is 404 for whoever it does not belong to, and for what is not there', async () => {
    const { source, first, toolCallId } = await story();
    const said = await api.lineage(`node=${last(first.nodes)}`);
    const stranger = await deployment.client(process);
    const ids = [`toolCall=${toolCallId}`, `node=${said.nodeId}`, `assertion=${source}@2`];
    for (const id of ids) await expect(stranger.lineage(id)).rejects.toMatchObject({ status: 404, code: 'not_found' });
    const answers = [said.nodeId, `${said.nodeId}9`].map(async (id) => stranger.send('GET', `/v1/nodes/${id}/replay`));
    const [foreign, absent] = await Promise.all(answers);
    expect(foreign?.body).toEqual(absent?.body);
    const sha256 = createHash('sha256').update(WRONG).digest('hex');
    expect(told(await stranger.lineage(`digest=${sha256}`))).toEqual([]);
    const nowhere = [`toolCall=${toolCallId}9`, `assertion=${source}@2`, `assertion=${source}@99999`, 'assertion=x', `playbook=${source}`]; // prettier-ignore
    for (const id of nowhere) await expect(api.lineage(id)).rejects.toMatchObject({ status: 404, code: 'not_found' });
    const wrong = ['', `node=${said.nodeId}&toolCall=${toolCallId}`, 'digest=x', `node=${said.nodeId}&cursor=d.1`, `digest=${sha256}&cursor=h.1.1`, `node=${said.nodeId}&cursor=r.1.2`]; // prettier-ignore
    for (const query of wrong)
      await expect(api.lineage(query)).rejects.toMatchObject({ status: 400, code: 'validation_failed' });
    const here = api.at(process);
    const { position } = await here.remove(source);
    for (const id of ids.slice(0, 2).map((one) => `${one}&minPosition=${position}`))
      await expect(api.lineage(id)).rejects.toMatchObject({ status: 404 });
    await expect(here.lineage(`assertion=${source}@2`)).rejects.toMatchObject({ status: 410, code: 'sealed' });
  });
});

describe('a value of the state', () => {
  it('is held by the answers whose state block showed it, also beside the one that superseded it, and by no other branch’s', async () => {
    const fields = [{ name: 'budget', type: 'money', kind: 'constraint' }];
    const conversationId = await api.conversation([], { state: { fields } });
    const first = await api.ask(conversationId, `My budget is 10,000. ${say('noted')}`);
    const second = await api.ask(conversationId, `Change the budget to 20,000. ${say('changed')}`);
    const third = await api.ask(conversationId, `Now the budget is 30,000. ${say('again')}`);
    const edited = await api.edit(conversationId, second.turnId, `Thank you ${say('welcome')}`);
    const { restsOn } = await api.lineage(`node=${last(second.nodes)}&${upTo(edited)}`);
    const values = restsOn?.items.filter(({ type }) => type === 'assertion') ?? [];
    expect(values).toMatchObject([
      { field: 'budget', nodeId: second.nodes[0], via: ['state'] },
      { field: 'budget', nodeId: first.nodes[0], via: ['state'] },
    ]);
    const [newer, older] = await Promise.all(values.map((value) => api.lineage(`assertion=${value.assertion}`)));
    expect(told(older as Lineage)).toEqual([
      answerOf(first, true, ['state']),
      answerOf(second, false, ['state']),
      answerOf(edited, true, ['state']),
    ]);
    expect(told(newer as Lineage)).toEqual([answerOf(second, false, ['state']), answerOf(third, false, ['state'])]);
    expect(told(await api.lineage(`node=${first.nodes[0]}`)).map(({ via }) => via)).toEqual([
      ['verbatim', 'state'],
      ['verbatim'],
      ['verbatim', 'state'],
    ]);
  });
});

describe('a result that was folded', () => {
  it('is held by the line that stands in for it, and whole where another branch held it whole', async () => {
    const text = 'lorem ipsum '.repeat(2_000);
    deployment.tools.behave(() => ({ text }));
    const model = (inputCap: number) => ({ provider: 'simulated', name: 'simulated', inputCap }) as const;
    const { assistantId } = await api.assistant({ tools: [{ type: 'http', name: 'lookup' }], model: model(60_000) });
    const { conversationId } = await api.start({ assistantId });
    const whole = await api.ask(conversationId, `${lookUp} ${say('one')}`);
    const { toolCallId } = last(deployment.tools.runs);
    const { version } = await api.assistant({ assistantId, tools: [{ type: 'http', name: 'lookup' }], model: model(4_000) }); // prettier-ignore
    const folded = await api.ask(conversationId, say('two'), { assistantVersion: version });
    const lineage = await api.lineage(`toolCall=${toolCallId}&${upTo(folded)}`);
    expect(told(lineage)).toEqual([answerOf(whole, true, ['verbatim']), answerOf(folded, true, ['folded'])]);
    const { restsOn } = await api.lineage(`node=${last(folded.nodes)}`);
    expect(restsOn?.items.filter(({ type }) => type === 'tool_result')).toMatchObject([
      { toolCallId, via: ['folded'] },
    ]);
  });
});
