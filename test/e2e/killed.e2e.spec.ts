import { type Client, until } from '../support/client';
import { unpairedIn } from '../support/client-requests';
import { mortal } from '../support/installation';
import { api, deployment } from '../support/one-process';

// Stories start up to three programs, one after another.
jest.setTimeout(300_000);

/** The simulated model of the deployment, which programs of their own share by its address. */
const shared = { provider: 'openai', name: 'simulated' } as const;

it('T02: the program is killed between a tool call and its result: the turn is carried on, and no write runs twice, and its unknown outcome is shown', async () => {
  const victim = await deployment.spawn(mortal);
  const conversationId = await api.conversation(['note', 'lookup']);
  const held = deployment.tools.hold();
  const question = '[[sim: call note {"w":1}]] [[sim: call lookup {"r":1}]] [[sim: say carried on]]';
  const { turnId, frames } = await api.at(victim).begin(conversationId, question);
  const seen = await frames.until('tool.call');
  await until(() => deployment.tools.runs.length === 2);
  await victim.kill('SIGKILL');
  const reading = frames.rest().catch(() => []);
  await reading;
  await expect(api.ask(conversationId, 'hello?')).rejects.toMatchObject({ status: 409, code: 'turn_running' });
  await until(() => deployment.tools.effectsOf(`${turnId}-1-1`) === 2);
  held.open();

  // The client goes on where it was, at a process that lives.
  const resumed = await api.follow(conversationId, turnId, seen.at(-1)?.id);
  const rest = await resumed.rest();
  expect(rest.at(-1)).toMatchObject({ event: 'turn.finished', data: { status: 'completed', answer: 'carried on' } });
  expect(rest.filter(({ event }) => event === 'tool.result').map(({ data }) => data.synthetic)).toEqual([
    'interrupted',
    undefined,
  ]);
  expect(rest.map(({ id }) => id)).not.toContain(seen.at(-1)?.id);
  expect(deployment.tools.effectsOf(`${turnId}-1-0`)).toBe(1);
  expect(unpairedIn((await api.replay(`${turnId}-2`)).body)).toEqual([]);
  const next = await api.ask(conversationId, '[[sim: say next]]');
  expect(next).toMatchObject({ answer: 'next' });

  // The person is told what the model was told: of the write alone.
  const unknownOutcomes = [{ toolCallId: `${turnId}-1-0`, name: 'note' }];
  expect(await api.turn(conversationId, turnId)).toMatchObject({ status: 'completed', unknownOutcomes });
  const { bubbles } = await api.transcript(conversationId, next.revision);
  expect(bubbles[1]).toMatchObject({ text: 'carried on', unknownOutcomes });
  expect(bubbles[3]).not.toHaveProperty('unknownOutcomes');
  const markdown = await api.send('GET', `/v1/conversations/${conversationId}/transcript?format=markdown`);
  expect(markdown.text).toContain(
    '> carried on\n\nThe outcome of the tool call note is not known: it may have happened.\n',
  );
});

it('loses nothing that was acknowledged when it is killed at once after the answer, and knows keys from before', async () => {
  const victim = await deployment.spawn(mortal);
  const conversationId = await api.conversation(['note']);
  const answered = await api
    .at(victim)
    .ask(conversationId, 'keep this [[sim: call note {}]] [[sim: say kept]]', { key: 'kept' });
  await victim.kill('SIGKILL');

  const again = await api.ask(conversationId, 'keep this [[sim: call note {}]] [[sim: say kept]]', { key: 'kept' });
  expect(again).toEqual(answered);
  for (const node of answered.nodes) expect(await api.replay(node)).toMatchObject({ verified: true });
  expect(deployment.tools.effectsOf(`${answered.turnId}-1-0`)).toBe(1);
});

it('C09: across a restart and on another process, its answer lost: one key is one run with one answer, and another body 409', async () => {
  let process = await deployment.spawn(mortal);
  const conversationId = await api.conversation(['note']);
  const question = 'once [[sim: call note {"k":1}]] [[sim: say done]]';
  const ask = (client: Client, text = question) => client.ask(conversationId, text, { key: 'lost' });
  const held = deployment.tools.hold();
  const before = deployment.tools.runs.length;
  const lost = ask(api.at(process)).catch(() => 'lost');
  await deployment.tools.arrival(before);
  await process.kill('SIGKILL');
  held.open();
  expect(await lost).toBe('lost');

  process = await deployment.spawn();
  const [here, there] = await Promise.all([ask(api), ask(api.at(process))]);
  expect(here).toMatchObject({ status: 'completed', answer: 'done' });
  expect(there).toEqual(here);
  await process.kill('SIGTERM');
  process = await deployment.spawn();
  for (const client of [api.at(process), api]) {
    expect(await ask(client)).toEqual(here);
    const refused = { status: 409, code: 'idempotency_conflict' };
    await expect(ask(client, 'something else')).rejects.toMatchObject(refused);
  }
  expect(deployment.tools.effectsOf(`${here.turnId}-1-0`)).toBe(1);
  expect((await api.tree(conversationId, here.revision)).nodes).toHaveLength(2);
});

it('a question that waits in the queue outlives the process that took it, and is answered next', async () => {
  const victim = await deployment.spawn(mortal);
  const conversationId = await api.conversation([], { model: shared }, { whenBusy: 'queue' });
  const held = deployment.requests.hold();
  const { turnId } = await api.at(victim).begin(conversationId, '[[sim: say one]]');
  const lost = api.at(victim).ask(conversationId, '[[sim: say two]]').catch(() => 'lost'); // prettier-ignore
  await until(async () => (await api.current(conversationId)).queued.length === 1);
  const { queued } = await api.current(conversationId);
  await victim.kill('SIGKILL');
  held.open();
  expect(await lost).toBe('lost');
  expect(await api.ended(conversationId, queued[0] ?? '')).toMatchObject({ status: 'completed', answer: 'two' });
  expect(await api.turn(conversationId, turnId)).toMatchObject({ status: 'completed', answer: 'one' });
});

it('lets its turns go on elsewhere when it is asked to stop', async () => {
  const leaving = await deployment.spawn();
  const conversationId = await api.conversation([], { model: shared });
  const held = deployment.requests.hold();
  const { turnId, frames } = await api.at(leaving).begin(conversationId, '[[sim: say elsewhere]]');
  await frames.until('round.started');
  await leaving.kill('SIGTERM');
  held.open();
  const turn = await api.ended(conversationId, turnId);
  expect(turn).toMatchObject({ status: 'completed', answer: 'elsewhere' });
});
