import { type Turn, until } from '../support/client';
import { eventsOf } from '../support/installation';
import { api, deployment, process, say } from '../support/one-process';
import { blockOf, budget, first, keeping, loves, rows } from '../support/state-stories';

/** An assistant whose turns are each read by a model, for which the next question waits. */
const reading = (...fields: object[]) => ({
  ...keeping(...fields),
  ...{ extraction: { mode: 'before' as const }, systemPrompt: 'You sell ZEBRAS.' },
});
/** What the model that reads the turn is made to answer. */
const finds = (...statements: object[]) => extract(statements);
const extract = (statements: object[], tags: object[] = []) =>
  `[[sim: extract-say ${JSON.stringify({ statements: statements.map((one) => ({ holds: true, key: '', quote: '', ...one })), tags })}]]`;
const extractions = async (conversationId: string, { revision }: Pick<Turn, 'revision'>) => {
  const nodes = (await api.tree(conversationId, revision)).nodes.filter(({ kind }) => kind === 'extraction');
  return Promise.all(nodes.map(async ({ id }) => api.node(id)));
};

describe('an extraction', () => {
  it('S03, S01: what a turn says in words that no rule reads is known before the next; the model that reads it sees its own messages alone', async () => {
    const conversationId = await api.conversation([], reading(budget(), loves));
    const before = await api.ask(conversationId, `My budget is 10,000. I love coriander. ${finds({ field: 'taste', value: 'loves coriander', quote: 'I love coriander' })} ${say('NOTED')}`); // prettier-ignore
    const change = await api.ask(conversationId, `Twice as much, and I hate coriander. [[sim: call recall_state {"field":"budget"}]] ${finds({ field: 'budget', value: '20,000', quote: 'Twice as much' }, { field: 'taste', value: 'hates coriander', quote: 'I hate coriander' })} ${say('DOUBLED')}`); // prettier-ignore
    const next = await api.ask(conversationId, `What is there? ${say('much')}`);

    expect(blockOf(await api.replay(first(change)))).toContain('taste: loves coriander [');
    expect(blockOf(await api.replay(first(next)))).toContain('budget: 20,000 [latest confirmed]  (~~10,000~~ [superseded])\ntaste: hates coriander [latest confirmed]  (~~loves coriander~~ [superseded])'); // prettier-ignore
    const [, second] = await extractions(conversationId, next);
    expect(second).toMatchObject({ parent: change.head, status: 'succeeded', turnId: null });
    const { body, verified } = await api.replay(second?.id ?? '');
    expect(verified).toBe(true);
    expect(body).toContain('Twice as much');
    expect(body).toContain('DOUBLED');
    expect(body).not.toMatch(/ZEBRAS|<state>|NOTED|My budget is|tool/);
    const recalled = 'in the order in which it was said';
    expect((await api.replay(change.nodes[1] ?? '')).body).toContain(recalled);
    expect(body).not.toContain(recalled);
    const { periods } = await api.history(conversationId, 'budget');
    expect(periods.at(-1)).toMatchObject({ value: 20000, by: 'user', from: { nodeId: first(change), quote: 'Twice as much' } }); // prettier-ignore
    expect(second?.sent).toMatchObject([{ type: 'user', text: expect.stringMatching(/^Read the exchange above/) }]);
    expect(before.head).not.toBe(change.head);
    const { stateNotUpdated } = await api.diagnosis(change.head ?? '', next.revision);
    expect(stateNotUpdated.evidence.map(({ what }) => what)).toEqual(['unsettled', 'unsettled']);
  });

  it('what the model only inferred is a proposal, and so is what is quoted and was not said; an edit has its own', async () => {
    const conversationId = await api.conversation([], reading(budget(), loves));
    // Escaped, or the words would stand in the message by being told to the model there.
    const invented = finds({ field: 'taste', value: 'basil', quote: 'QUOTE' }).replace('QUOTE', 'b\\u0061sil it is');
    const turn = await api.ask(conversationId, `Hm. ${invented} ${say('BASIL')}`);
    await api.ask(conversationId, say('next'));
    expect(await rows(conversationId)).toEqual([['taste', 'proposed', 'basil', []]]);
    expect((await api.state(conversationId)).fields[0]?.source).toMatchObject({ nodeId: turn.head });
    const edited = await api.edit(conversationId, turn.turnId, say('other'));
    const next = await api.ask(conversationId, say('after'));
    expect([edited.status, await rows(conversationId)]).toEqual(['completed', []]);
    expect((await extractions(conversationId, next)).map(({ parent }) => parent)).toContain(edited.head);
    expect(next.status).toBe('completed');
  });

  it('S10: of two turns whose extractions come the other way round the later one holds; another model may read them', async () => {
    const extraction = { mode: 'after', model: { provider: 'simulated', name: 'simulated-anthropic' } } as const;
    const conversationId = await api.conversation([], { ...reading(budget()), extraction });
    const early = finds({ field: 'budget', value: '1,000', quote: 'Take a thousand' });
    const late = finds({ field: 'budget', value: '2,000', quote: 'Rather twice that' });
    const held = deployment.requests.hold((body) => /Take a thousand.*Read the exchange above/.test(body));
    const one = await api.ask(conversationId, `Take a thousand. ${early} ${say('hm')}`);
    const two = await api.ask(conversationId, `Rather twice that. ${late} ${say('hm')}`);
    const said = async () => (await eventsOf(process, conversationId)).filter(({ type }) => type === 'StateAsserted');
    await until(async () => (await said()).length === 1);
    held.open();
    await until(async () => (await said()).length === 2);
    const [earlier, later] = await said();
    expect([earlier, later].map((event) => event?.data)).toMatchObject([
      { nodeId: first(two) },
      { nodeId: first(one) },
    ]);
    expect(await rows(conversationId)).toEqual([['budget', 'confirmed', 2000, [1000]]]);
    const read = await extractions(conversationId, { revision: String(later?.revision) });
    expect(read.map(({ model }) => model)).toEqual(Array(2).fill('simulated-anthropic'));
  });

  it('S04, S05: what is similar stands side by side; what comes back later is a period of its own', async () => {
    const roles = { name: 'roles', type: 'text', kind: 'fact', cardinality: 'set' };
    const project = { name: 'project', type: 'text', kind: 'fact' };
    const conversationId = await api.conversation([], reading(roles, project));
    const says = async (text: string, ...statements: object[]) => {
      const quoted = statements.map((one) => ({ value: '', quote: text, ...one }));
      await api.ask(conversationId, `${text} ${finds(...quoted)} ${say('noted')}`);
    };
    await says('Ann is CTO at Z', { field: 'roles', key: 'Ann at Z', value: 'CTO' });
    await says('Ann set the audit rule', { field: 'roles', key: 'Ann and audit', value: 'set the rule' });
    await says('In January I was assigned to Apollo', { field: 'project', value: 'Apollo' });
    await says('I left it in February', { field: 'project', holds: false });
    await says('In March I was assigned to Apollo again', { field: 'project', value: 'Apollo' });
    await api.ask(conversationId, say('so'));
    expect(await rows(conversationId)).toEqual([
      ['roles', 'confirmed', 'CTO', []],
      ['roles', 'confirmed', 'set the rule', []],
      ['project', 'confirmed', 'Apollo', expect.anything()],
    ]);
    const { periods } = await api.history(conversationId, 'project');
    expect(periods.map(({ value, to }) => [value, to?.how])).toEqual([
      ['Apollo', 'retracted'],
      ['Apollo', undefined],
    ]);
  });

  it('an answer that does not fit, a failure and a slow one change nothing, are not tried again, and no question waits longer than the bound', async () => {
    const conversationId = await api.conversation([], reading(budget()));
    await api.ask(conversationId, `My budget is 10,000. ${say('noted')}`);
    await api.ask(conversationId, `Double the budget. ${finds({ field: 'budget', value: 'soon' })} ${say('hm')}`);
    await api.ask(conversationId, `Double the budget. [[sim: extract-fail invalid_request]] ${say('hm')}`);
    const hasty = await deployment.start({ PALIMPSEST_EXTRACTION_MS: '1000' });
    const began = performance.now();
    const slow = await api.ask(conversationId, `Double the budget. [[sim: extract-stall ms=60000]] ${say('hm')}`);
    const next = await api.at(hasty).ask(conversationId, `What is left? ${say('next')}`);

    expect(performance.now() - began).toBeLessThan(15_000);
    expect([slow.status, next.status]).toEqual(['completed', 'completed']);
    expect(blockOf(await api.replay(first(next)))).toContain('budget: 10,000 [this message takes precedence]');
    expect(await rows(conversationId)).toEqual([['budget', 'confirmed', 10000, []]]);
    const nodes = await extractions(conversationId, next);
    expect(nodes.slice(0, 4).map(({ status, reason }) => [status, reason])).toEqual([
      ['succeeded', undefined],
      ['failed', 'unusable_answer'],
      ['failed', 'invalid_request'],
      ['pending', undefined],
    ]);
    expect(nodes[1]?.failure).toMatchObject({ detail: expect.stringContaining('statements[0].value') });
  });

  it('tags what was said; rules do where nobody reads it; a person corrects both, once under a key', async () => {
    const conversationId = await api.conversation([], reading(budget()));
    const tags = [
      { message: 'question', tag: 'constraint' },
      { message: 'answer', tag: 'discarded' },
    ];
    const read = await api.ask(conversationId, `No more than that. ${extract([], tags)} ${say('Right.')}`);
    await until(async () => {
      const { sent, received } = await api.node(first(read));
      return [...sent, ...received].every(({ tag }) => tag !== undefined);
    });
    expect(await api.node(first(read))).toMatchObject({
      sent: [{ tag: 'constraint', taggedBy: 'extraction' }],
      received: [{ tag: 'discarded', taggedBy: 'extraction' }],
    });
    const tagged = await api.tag(first(read), 'received/0', 'decision', 'k1');
    expect(await api.tag(first(read), 'received/0', 'decision', 'k1')).toEqual(tagged);
    const { received } = await api.node(first(read), tagged.revision);
    expect(received).toMatchObject([{ tag: 'decision', taggedBy: 'user' }]);
    await expect(api.tag(first(read), 'received/7', 'fact')).rejects.toMatchObject({ code: 'validation_failed' });
    await expect(api.tag(first(read), 'sent/0', 'nice')).rejects.toMatchObject({ status: 400 });

    const plain = await api.conversation();
    const thanks = await api.ask(plain, 'Thanks!');
    expect(await api.node(first(thanks), thanks.revision)).toMatchObject({
      sent: [{ text: 'Thanks!', tag: 'chit-chat', taggedBy: 'rule' }],
    });
  });
});
