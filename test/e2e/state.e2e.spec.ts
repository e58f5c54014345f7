import { verifyLog } from '@palimpsest/audit';
import { dialogueStates, findLive } from '@palimpsest/read-models';
import { type Replay, type Turn, until } from '../support/client';
import { eventsOf } from '../support/installation';
import { api, deployment, process, say } from '../support/one-process';
import { isOnEventStoreDb } from '../support/test-log';

const budget = (currency?: string) => ({
  ...{ name: 'budget', type: 'money', kind: 'constraint', labels: { en: 'budget', ko: '예산' } },
  ...(currency && { currency }),
});
const loves = { name: 'taste', type: 'text', kind: 'preference' };
const likes = { name: 'likes', type: 'text', kind: 'preference', cardinality: 'set' };
const keeping = (...fields: object[]) => ({ state: { fields }, zone: 'Asia/Seoul' });

const first = (turn: Turn): string => turn.nodes[0] ?? '';

/** What a request tells of the state, as the model reads it. */
function blockOf({ body }: Replay): string {
  return JSON.parse(`"${/<state>\\n(.*?)\\n<\/state>/.exec(body)?.[1] ?? ''}"`) as string;
}
const blocksIn = ({ body }: Replay): number => body.split('<state>').length - 1;
const rows = async (conversationId: string, query = '') =>
  (await api.state(conversationId, query)).fields.map(({ field, standing, value, superseded }) => [
    field,
    standing,
    value,
    superseded.map((old) => old.value),
  ]);

describe.each([
  [
    'en',
    'My budget is 10,000.',
    'Change the budget to 20,000.',
    'budget: 20,000 [latest confirmed]  (~~10,000~~ [superseded])',
  ],
  ['ko', '예산은 10,000원입니다.', '예산을 20,000원으로 바꿔줘.', '예산: 20,000 [최신 확인]  (~~10,000~~ [실효])'],
])('a budget that changes, in %s', (locale, one, two, line) => {
  it('stands beside the struck old one in the very request that answers the change, and an edit brings the old one back', async () => {
    const conversationId = await api.conversation([], { ...keeping(budget('KRW')), locale });
    const before = await api.ask(conversationId, `${one} ${say('noted')}`);
    const change = await api.ask(conversationId, `${two} ${say('changed')}`);
    const replay = await api.replay(first(change));

    expect(blockOf(replay)).toContain(line);
    expect(blockOf(replay)).toMatch(/^(today|오늘): \d{4}-\d\d-\d\d \(Asia\/Seoul\)$/m);
    expect(replay).toMatchObject({ verified: true });
    expect(await rows(conversationId)).toEqual([['budget', 'confirmed', 20000, [10000]]]);
    const { periods } = await api.history(conversationId, 'budget');
    expect(periods).toMatchObject([
      {
        value: 10000,
        currency: 'KRW',
        by: 'rule',
        from: { nodeId: first(before) },
        to: { how: 'superseded', nodeId: first(change) },
      },
      { value: 20000, currency: 'KRW', by: 'rule', from: { nodeId: first(change) } },
    ]);

    const edited = await api.edit(conversationId, change.turnId, `What is there in the shop? ${say('much')}`);
    expect(blockOf(await api.replay(first(edited)))).not.toContain('20,000');
    expect(await rows(conversationId)).toEqual([['budget', 'confirmed', 10000, []]]);
    expect(await rows(conversationId, `?at=${first(change)}`)).toEqual([['budget', 'confirmed', 20000, [10000]]]);
    await api.switchTo(conversationId, first(change));
    expect(await rows(conversationId)).toEqual([['budget', 'confirmed', 20000, [10000]]]);
  });
});

it("a request names the node of each value, and holds one block: its own turn's, the same in all its rounds", async () => {
  const conversationId = await api.conversation(['lookup'], keeping(budget()));
  const before = await api.ask(conversationId, `My budget is 10,000. ${say('noted')}`);
  const turn = await api.ask(conversationId, 'Look. [[sim: call lookup {}]]');
  const replays = await Promise.all(turn.nodes.map((nodeId) => api.replay(nodeId)));

  expect(turn.nodes).toHaveLength(2);
  expect(replays.map(blocksIn)).toEqual([1, 1]);
  expect(blockOf(replays[1] as Replay)).toBe(blockOf(replays[0] as Replay));
  const [, second] = replays;
  const { body, parts } = second as Replay;
  const state = parts.filter(({ what }) => what === 'state');
  const value = state.find(({ nodeId }) => nodeId === first(before));
  expect(Buffer.from(body).subarray(value?.from, value?.to).toString()).toBe('10,000');
  const [requested] = (await eventsOf(process, conversationId)).filter(
    ({ type, data }) => type === 'CallRequested' && data.nodeId === first(turn),
  );
  expect(new Set(state.map(({ eventId }) => eventId))).toEqual(new Set([requested?.id]));
});

it('the request after loses the block of the turn before, and says so', async () => {
  const conversationId = await api.conversation([], keeping(budget()));
  await api.ask(conversationId, `My budget is 10,000. ${say('noted')}`);
  const next = await api.ask(conversationId, `And now? ${say('now')}`);
  const { items } = await api.usage(conversationId, next.revision);
  expect(JSON.stringify(items.at(-1))).toContain('"state"');
  expect(blocksIn(await api.replay(first(next)))).toBe(1);
});

it('a field that a question may change, in words that no rule reads, is not called the latest until somebody settles it', async () => {
  const conversationId = await api.conversation([], keeping(budget()));
  const lineOf = async (question: string): Promise<string | undefined> => {
    const turn = await api.ask(conversationId, question);
    return /^budget: .*$/m.exec(blockOf(await api.replay(first(turn))))?.[0];
  };
  const doubt = `My budget is 10,000. Perhaps we should double the budget, if my boss agrees. ${say('hm')}`;
  const [open, settled] = ['budget: 10,000 [this message takes precedence]', 'budget: 10,000 [latest confirmed]'];
  expect(await lineOf(doubt)).toBe(open);
  expect(await lineOf(`What is there in the shop? [[sim: fail invalid_request]]`)).toBe(open);
  expect(await lineOf(`What is there in the shop? ${say('much')}`)).toBe(open);
  await api.say(conversationId, { field: 'budget', value: 10_000 });
  expect(await lineOf(`And what else? ${say('more')}`)).toBe(settled);
  expect(await lineOf(doubt)).toBe(open);
  expect(await lineOf(`My budget is 10,000. ${say('so')}`)).toBe(settled);
  expect(await lineOf(`And what else? ${say('more')}`)).toBe(settled);
});

it('requests of an assistant that keeps no state have none', async () => {
  const conversationId = await api.conversation();
  const turn = await api.ask(conversationId, `My budget is 10,000. ${say('noted')}`);
  expect(blocksIn(await api.replay(first(turn)))).toBe(0);
  expect(await api.state(conversationId)).toEqual({ nodeId: turn.head, fields: [] });
  await expect(api.say(conversationId, { field: 'budget', value: 1 })).rejects.toMatchObject({ status: 400 });
});

describe('what a client says', () => {
  it('S01, S02: a later value supersedes the earlier; recall gives the later alone, history both', async () => {
    const conversationId = await api.conversation([], keeping(loves));
    await api.say(conversationId, { field: 'taste', value: 'loves coriander' });
    await api.ask(conversationId, say('one'));
    await api.say(conversationId, { field: 'taste', value: 'hates coriander' });
    const turn = await api.ask(conversationId, say('two'));
    expect(await rows(conversationId)).toEqual([['taste', 'confirmed', 'hates coriander', ['loves coriander']]]);
    expect(blockOf(await api.replay(first(turn)))).toContain('taste: hates coriander [latest confirmed]');
    const { fields } = await api.state(conversationId);
    expect(fields[0]?.superseded).toEqual([{ value: 'loves coriander', nodeId: null }]);
    expect((await api.replay(first(turn))).parts.map(({ nodeId }) => nodeId)).not.toContain('@0');
    const { periods } = await api.history(conversationId, 'taste');
    expect(periods.map(({ value, to }) => [value, to?.how])).toEqual([
      ['loves coriander', 'superseded'],
      ['hates coriander', undefined],
    ]);
  });

  it('is checked by the schema and kept in its normal form, once under its key', async () => {
    const conversationId = await api.conversation([], keeping(budget('KRW'), likes));
    const body = { field: 'budget', value: '2만원' };
    const said = await api.say(conversationId, body, 'k1');
    expect(said).toMatchObject({ field: 'budget', nodeId: null, value: 20000, currency: 'KRW' });
    expect(await api.say(conversationId, body, 'k1')).toEqual(said);
    await expect(api.say(conversationId, { ...body, value: 1 }, 'k1')).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
    await expect(api.say(conversationId, { field: 'budget', value: 'soon' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('amount'),
    });
    await expect(api.say(conversationId, { field: 'mood', value: 'good' })).rejects.toMatchObject({
      message: expect.stringContaining('likes'),
    });
    await expect(api.say(conversationId, { field: 'budget' })).rejects.toMatchObject({ code: 'validation_failed' });
  });

  it('leaves a field empty when it is retracted, and a set without one of its values', async () => {
    const conversationId = await api.conversation([], keeping(budget(), likes));
    await api.say(conversationId, { field: 'budget', value: 5 });
    await api.say(conversationId, { field: 'likes', key: 'food', value: 'noodles' });
    await api.say(conversationId, { field: 'likes', key: 'drink', value: 'tea' });
    await api.say(conversationId, { field: 'likes', key: 'Food', value: 'rice' });
    await api.say(conversationId, { field: 'likes', key: 'drink', retract: true });
    await api.say(conversationId, { field: 'budget', retract: true });
    expect(await rows(conversationId)).toEqual([
      ['budget', 'retracted', 5, []],
      ['likes', 'confirmed', 'rice', ['noodles']],
      ['likes', 'retracted', 'tea', []],
    ]);
  });

  it('C06: while a turn runs counts from its node on, and breaks nothing', async () => {
    const conversationId = await api.conversation([], keeping(budget()));
    const { turnId, frames } = await api.begin(conversationId, `[[sim: slow ms=150]] ${say('slow')}`);
    const said = await api.say(conversationId, { field: 'budget', value: 7 });
    await frames.until('turn.finished');
    const turn = await api.ended(conversationId, turnId);
    expect(turn).toMatchObject({ status: 'completed', nodes: [said.nodeId] });
    expect(await rows(conversationId)).toEqual([['budget', 'confirmed', 7, []]]);
  });
});

it('S10, B02: what is said late of an earlier node is carried on where nothing was said since, and to no other branch', async () => {
  const conversationId = await api.conversation([], keeping(budget(), loves));
  const [one, two] = [
    await api.ask(conversationId, say('1')),
    await api.ask(conversationId, `My budget is 3. ${say('2')}`),
  ];
  const side = await api.edit(conversationId, two.turnId, say('side'));
  await api.switchTo(conversationId, first(two));
  const { system } = process.installation.running;
  const identity = await system.identities.find(conversationId);
  if (!identity) throw new Error('There is no such conversation.');
  const counts = { by: 'client', cardinality: 'one', confirm: 'stated', nodeId: first(one) } as const;
  const stated = async (field: string, value: string | number) =>
    system.writer.handle(
      identity,
      {
        type: 'AssertState',
        statement: { ...counts, field, digests: { value: `digest of ${value}` } },
        content: { value },
      },
      { actor: 'test', correlationId: 'test' },
    );
  await stated('budget', 99);
  await stated('taste', 'late');
  await system.projectorOf('dialogue-state')?.moved(500);
  expect(await rows(conversationId)).toEqual([
    ['budget', 'confirmed', 3, [99]],
    ['taste', 'confirmed', 'late', []],
  ]);
  expect(await rows(conversationId, `?at=${first(side)}`)).toEqual([
    ['budget', 'confirmed', 99, []],
    ['taste', 'confirmed', 'late', []],
  ]);
});

it('B01: of two regenerations the one that is continued is alone in request and state', async () => {
  const conversationId = await api.conversation([], keeping(loves));
  const one = await api.ask(conversationId, say('1'));
  await api.say(conversationId, { field: 'taste', value: 'CANARY' });
  await api.regenerate(conversationId, one.turnId);
  await api.say(conversationId, { field: 'taste', value: 'plain' });
  const next = await api.ask(conversationId, say('2'));
  const replay = await api.replay(first(next));
  expect(blockOf(replay)).toContain('taste: plain [latest confirmed]');
  expect(replay.body).not.toContain('CANARY');
  expect(JSON.stringify(await api.state(conversationId))).not.toContain('CANARY');
});

describe('the model', () => {
  const calls = (...all: readonly [string, object][]) =>
    all.map(([tool, args]) => `[[sim: call ${tool} ${JSON.stringify(args)}]]`).join(' ');
  const results = async (turn: Turn) =>
    (await api.node(turn.nodes[1] ?? '')).sent.flatMap((item) => (item.type === 'tool_result' ? [item] : []));

  it('notes what the user said in so many words as said, and what it inferred as a proposal that supersedes nothing', async () => {
    const conversationId = await api.conversation([], keeping(budget(), loves));
    const quoted = await api.ask(
      conversationId,
      `I do love coriander. ${calls(['note_state', { field: 'taste', value: 'loves coriander', quote: 'I do love coriander' }])}`,
    );
    const inferred = await api.ask(
      conversationId,
      `Hm. ${calls(['note_state', { field: 'taste', value: 'wants basil' }])}`,
    );
    // Escaped, or the words would stand in the message by being told to the model there.
    const escaped = `[[sim: call note_state {"field":"taste","value":"hates it","quote":"I h\\u0061te coriander"}]]`;
    const invented = await api.ask(conversationId, `Hm. ${escaped}`);

    expect((await results(quoted))[0]).toMatchObject({
      isError: false,
      text: 'Noted, as said by the user. taste: loves coriander',
    });
    expect((await results(inferred))[0]?.text).toMatch(/^Noted, as a proposal/);
    expect((await results(invented))[0]).toMatchObject({
      isError: true,
      text: expect.stringContaining('do not stand'),
    });
    expect(await api.state(conversationId)).toMatchObject({
      fields: [
        {
          standing: 'confirmed',
          value: 'loves coriander',
          source: { nodeId: first(quoted), quote: 'I do love coriander' },
        },
        { standing: 'proposed', value: 'wants basil', source: { nodeId: first(inferred) } },
      ],
    });
    const next = await api.ask(conversationId, say('so'));
    expect(blockOf(await api.replay(first(next)))).not.toContain('basil');
  });

  it('answers what was said before, of its own branch alone', async () => {
    const conversationId = await api.conversation([], keeping(budget()));
    await api.ask(conversationId, `My budget is 10,000. ${say('noted')}`);
    const other = await api.ask(conversationId, `My budget is 77,777. ${say('noted')}`);
    await api.edit(conversationId, other.turnId, `My budget is 20,000. ${say('noted')}`);
    const turn = await api.ask(conversationId, `What was it before? ${calls(['recall_state', { field: 'budget' }])}`);
    expect((await results(turn)).map(({ text }) => text)).toEqual([
      [
        'budget, in the order in which it was said:',
        '1. 10,000 (confirmed, in the words "budget is 10,000"; superseded since)',
        '2. 20,000 (confirmed, in the words "budget is 20,000"; it holds now)',
      ].join('\n'),
    ]);
  });

  it('has no tool of the state where the assistant keeps none, and nobody names one', async () => {
    const turn = await api.ask(await api.conversation(), calls(['recall_state', { field: 'budget' }]));
    expect((await results(turn))[0]?.text).toContain('There is no tool named');
    await expect(api.assistant({ tools: [{ type: 'builtin', name: 'note_state' }] })).rejects.toMatchObject({
      code: 'validation_failed',
    });
  });
});

it('the state goes on through a compaction, and ends with a clear', async () => {
  const conversationId = await api.conversation([], keeping(budget()));
  await api.ask(conversationId, `My budget is 10,000. ${say('noted')}`);
  await api.compact(conversationId);
  const next = await api.ask(conversationId, `And? ${say('and')}`);
  expect(blockOf(await api.replay(first(next)))).toContain('budget: 10,000 [latest confirmed]');
  expect(await rows(conversationId)).toEqual([['budget', 'confirmed', 10000, []]]);
  await api.clear(conversationId);
  expect(await api.state(conversationId)).toEqual({ nodeId: null, fields: [] });
  const anew = await api.ask(conversationId, say('anew'));
  expect(blockOf(await api.replay(first(anew)))).toMatch(/^today: \S+ \(Asia\/Seoul\)$/);
});

it('the log verifies, the read models equal a rebuild, and nothing that was said stands in the database in the clear', async () => {
  const { store, codec, log } = process.installation.running.system;
  const report = await verifyLog({ store, content: { codec, log }, densePositions: !isOnEventStoreDb });
  expect(report).toMatchObject({ ok: true });
  expect(await deployment.faultsOfReadModels(process)).toEqual([]);
  const { schema } = await findLive(deployment.pool, dialogueStates);
  const { rows: kept } = await deployment.pool.query<{ row: string }>(
    `select to_jsonb(s)::text as row from ${schema}.states_v1 s`,
  );
  expect(kept.length).toBeGreaterThan(5);
  expect(kept.map(({ row }) => row).join()).not.toMatch(/CANARY|coriander|noodles|KRW|20000/);
});

describe('extraction', () => {
  const PROMPT = 'You sell ZEBRAS.';
  const reading = (mode: 'before' | 'after', ...fields: object[]) => ({
    ...keeping(...fields),
    ...{ extraction: { mode }, systemPrompt: PROMPT },
  });
  /** What the model that reads the turn is made to answer. */
  const finds = (...statements: object[]) => extract(statements);
  const extract = (statements: object[], tags: object[] = []) =>
    `[[sim: extract-say ${JSON.stringify({ statements: statements.map((one) => ({ holds: true, key: '', quote: '', ...one })), tags })}]]`;
  const extractions = async (conversationId: string) => {
    const nodes = (await api.tree(conversationId)).nodes.filter(({ kind }) => kind === 'extraction');
    return Promise.all(nodes.map(async ({ id }) => api.node(id)));
  };

  it('S03, S01: what a turn says in words that no rule reads is known before the next; the model that reads it sees its own messages alone', async () => {
    const conversationId = await api.conversation([], reading('before', budget(), loves));
    const before = await api.ask(conversationId, `My budget is 10,000. I love coriander. ${finds({ field: 'taste', value: 'loves coriander', quote: 'I love coriander' })} ${say('NOTED')}`); // prettier-ignore
    const change = await api.ask(conversationId, `Twice as much, and I hate coriander. [[sim: call recall_state {"field":"budget"}]] ${finds({ field: 'budget', value: '20,000', quote: 'Twice as much' }, { field: 'taste', value: 'hates coriander', quote: 'I hate coriander' })} ${say('DOUBLED')}`); // prettier-ignore
    const next = await api.ask(conversationId, `What is there? ${say('much')}`);

    expect(blockOf(await api.replay(first(change)))).toContain('taste: loves coriander [');
    expect(blockOf(await api.replay(first(next)))).toContain('budget: 20,000 [latest confirmed]  (~~10,000~~ [superseded])\ntaste: hates coriander [latest confirmed]  (~~loves coriander~~ [superseded])'); // prettier-ignore
    const [, second] = await extractions(conversationId);
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
    const conversationId = await api.conversation([], reading('before', budget(), loves));
    // Escaped, or the words would stand in the message by being told to the model there.
    const invented = finds({ field: 'taste', value: 'basil', quote: 'QUOTE' }).replace('QUOTE', 'b\\u0061sil it is');
    const turn = await api.ask(conversationId, `Hm. ${invented} ${say('BASIL')}`);
    await api.ask(conversationId, say('next'));
    expect(await rows(conversationId)).toEqual([['taste', 'proposed', 'basil', []]]);
    expect((await api.state(conversationId)).fields[0]?.source).toMatchObject({ nodeId: turn.head });
    const edited = await api.edit(conversationId, turn.turnId, say('other'));
    const next = await api.ask(conversationId, say('after'));
    expect([edited.status, await rows(conversationId)]).toEqual(['completed', []]);
    expect((await extractions(conversationId)).map(({ parent }) => parent)).toContain(edited.head);
    expect(next.status).toBe('completed');
  });

  it('S04, S05: what is similar stands side by side; what comes back later is a period of its own', async () => {
    const roles = { name: 'roles', type: 'text', kind: 'fact', cardinality: 'set' };
    const project = { name: 'project', type: 'text', kind: 'fact' };
    const conversationId = await api.conversation([], reading('before', roles, project));
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
    const conversationId = await api.conversation([], reading('before', budget()));
    await api.ask(conversationId, `My budget is 10,000. ${say('noted')}`);
    await api.ask(conversationId, `Double the budget. ${finds({ field: 'budget', value: 'soon' })} ${say('hm')}`);
    await api.ask(conversationId, `Double the budget. [[sim: extract-fail invalid_request]] ${say('hm')}`);
    const began = performance.now();
    const slow = await api.ask(conversationId, `Double the budget. [[sim: extract-stall ms=60000]] ${say('hm')}`);
    const next = await api.ask(conversationId, `What is left? ${say('next')}`);

    expect(performance.now() - began).toBeLessThan(15_000);
    expect([slow.status, next.status]).toEqual(['completed', 'completed']);
    expect(blockOf(await api.replay(first(next)))).toContain('budget: 10,000 [this message takes precedence]');
    expect(await rows(conversationId)).toEqual([['budget', 'confirmed', 10000, []]]);
    const nodes = await extractions(conversationId);
    expect(nodes.slice(0, 4).map(({ status, reason }) => [status, reason])).toEqual([
      ['succeeded', undefined],
      ['failed', 'unusable_answer'],
      ['failed', 'invalid_request'],
      ['pending', undefined],
    ]);
    expect(nodes[1]?.failure).toMatchObject({ detail: expect.stringContaining('statements[0].value') });
  });

  it('tags what was said; rules do where nobody reads it; a person corrects both, once under a key', async () => {
    const conversationId = await api.conversation([], reading('before', budget()));
    const tags = [
      { message: 'question', tag: 'constraint' },
      { message: 'answer', tag: 'discarded' },
    ];
    const read = await api.ask(conversationId, `No more than that. ${extract([], tags)} ${say('Right.')}`);
    // On a busy machine the next turn may not wait for it.
    await until(async () => (await api.node(first(read))).received.some(({ tag }) => tag !== undefined));
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
