import { verifyLog } from '@palimpsest/audit';
import { dialogueStates, findLive } from '@palimpsest/read-models';
import { type Replay, type Turn, until } from '../support/client';
import { eventsOf } from '../support/installation';
import { api, deployment, process, say } from '../support/one-process';
import { blockOf, budget, first, keeping, likes, loves, rows } from '../support/state-stories';
import { isOnEventStoreDb } from '../support/test-log';

const blocksIn = ({ body }: Replay): number => body.split('<state>').length - 1;

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

it('a diagnosis knows what a rule found in the question, however far the read model is', async () => {
  const conversationId = await api.conversation([], keeping(budget()));
  const { schema } = await findLive(deployment.pool, dialogueStates);
  const session = await deployment.pool.connect();
  try {
    // Nobody writes there meanwhile; who reads does not wait.
    await session.query(`begin; lock table ${schema}.state_conversations_v1 in exclusive mode`);
    const turn = await api.ask(conversationId, `My budget is 10,000. ${say('noted')}`);
    const { stateNotUpdated } = await api.diagnosis(first(turn), turn.revision);
    expect(stateNotUpdated).toEqual({ answer: 'no', evidence: [] });
  } finally {
    await session.query('rollback');
    session.release();
  }
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
    const once = await api.say(conversationId, { field: 'budget', retract: true }, 'once');
    const expected = [
      ['budget', 'retracted', 5, []],
      ['likes', 'confirmed', 'rice', ['noodles']],
      ['likes', 'retracted', 'tea', []],
    ];
    expect(await rows(conversationId)).toEqual(expected);

    expect(once).toMatchObject({ retracted: true, ended: 1 });
    const absent = [
      { field: 'budget', retract: true },
      { field: 'likes', value: 'tea', retract: true },
      { field: 'likes', value: 'noodles', retract: true },
    ];
    for (const body of absent) expect(await api.say(conversationId, body)).toMatchObject({ retracted: true, ended: 0 });
    expect(await rows(conversationId)).toEqual(expected);
    await api.say(conversationId, { field: 'budget', value: 6 });
    expect(await api.say(conversationId, { field: 'likes', retract: true })).toMatchObject({ ended: 1 });
    await api.ask(conversationId, say('so'));
    const { position } = await api.clear(conversationId);
    await until(async () => (await findLive(deployment.pool, dialogueStates)).position >= BigInt(position));
    expect(await api.say(conversationId, { field: 'budget', retract: true }, 'once')).toEqual(once);
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
