import { READ_RESULT } from '@palimpsest/context';
import { conversationStream } from '@palimpsest/read-models';
import type { Replay, Turn } from '../support/client';
import { eventsOf } from '../support/installation';
import { api, deployment, process } from '../support/one-process';
import { PeakMemory } from '../support/peak-memory';

const MiB = 1024 * 1024;

/** Lines of words, figures and Korean, each another: so many bytes, about. */
function table(bytes: number): string {
  const lines: string[] = [];
  for (let length = 0, row = 0; length < bytes; row += 1) {
    const line = `row ${row}: customer ${(row * 7919) % 9973} of 서울 bought ${(row * 104729) % 100003} units`;
    lines.push(line);
    length += line.length + 5;
  }
  return lines.join('\n');
}

const model = (inputCap: number) => ({ model: { provider: 'simulated', name: 'simulated', inputCap } }) as const;

const foldsIn = async (conversationId: string) =>
  (await eventsOf(process, conversationId)).filter((event) => event.type === 'ToolResultFolded');

/** The events of a conversation that refer to a payload of their own. */
async function payloadsOf(conversationId: string): Promise<readonly string[]> {
  const types: string[] = [];
  const { store } = process.installation.running.system;
  for await (const { type, data } of store.readStream(conversationStream(conversationId)))
    if ((data['sealed'] as { readonly payload?: string } | undefined)?.payload !== undefined) types.push(type);
  return types;
}

/** What the model got for its tool calls, from the last request of a turn as it was replayed. */
async function replayOfLast(turn: Turn): Promise<Replay> {
  const replay = await api.replay(turn.nodes.at(-1) ?? '');
  expect(replay.verified).toBe(true);
  return replay;
}

it('O01: folds a result of 400k tokens before the next call, and the turn goes on', async () => {
  const text = table(1.5 * MiB);
  deployment.tools.behave(() => ({ text }));
  const conversationId = await api.conversation(['lookup']);
  const turn = await api.ask(conversationId, 'look it up [[sim: call lookup {}]] [[sim: say done]]');
  expect(turn).toMatchObject({ status: 'completed', answer: 'done' });
  const [fold, ...more] = await foldsIn(conversationId);
  expect(more).toEqual([]);
  expect(fold?.data).toEqual({
    toolCallId: `${turn.nodes[0]}-0`,
    nodeId: turn.nodes[1],
    handle: `${turn.turnId.slice(-12)}-1-0`,
  });

  const replay = await replayOfLast(turn);
  expect(replay.length).toBeLessThan(5_000);
  expect(replay.body).toContain(text.slice(0, 100).replaceAll('\n', '\\n'));
  expect(replay.body).not.toContain(text.slice(5_000, 5_100));
  // The bytes of the stand-in come from the event that folded the result.
  const parts = replay.parts.filter((part) => part.eventId === fold?.id);
  const bytes = Buffer.from(replay.body);
  expect(parts.map(({ from, to }) => JSON.parse(`"${bytes.subarray(from, to).toString()}"`) as string)).toEqual([
    fold?.type === 'ToolResultFolded' ? fold.content.text : '',
  ]);
  expect(parts[0]).toMatchObject({ what: 'turn', nodeId: turn.nodes[1] });
  expect((await api.node(turn.nodes[1] ?? '')).sent).toMatchObject([
    { type: 'tool_result', folded: fold?.data.handle },
  ]);

  // What was folded stays folded, in the same bytes.
  const after = await replayOfLast(await api.ask(conversationId, 'and now? [[sim: say still done]]'));
  expect(after.body.startsWith(replay.body.slice(0, -2))).toBe(true);
  expect(await foldsIn(conversationId)).toHaveLength(1);
});

it('O02: gives the whole text back in pages, byte for byte, to a model that asks for it again', async () => {
  const text = table(300_000);
  deployment.tools.behave(() => ({ text }));
  const conversationId = await api.conversation(['lookup'], model(60_000));
  const turn = await api.ask(conversationId, '[[sim: call lookup {}]] [[sim: read]] [[sim: say read]]');
  expect(turn).toMatchObject({ status: 'completed', answer: 'read' });
  const pages = (await eventsOf(process, conversationId)).flatMap((event) =>
    event.type === 'ToolExecuted' && event.content.text.startsWith(`[${READ_RESULT}`) ? [event.content.text] : [],
  );
  expect(pages.length).toBeGreaterThan(10);
  expect(pages[1]).toMatch(new RegExp(`^\\[read_result: page 2 of ${pages.length}\\. Next: `));
  expect(pages.map((page) => page.slice(page.indexOf('\n') + 1)).join('')).toBe(text);
  // Pages are results too: those that no longer fit beside the others are folded in turn.
  expect((await foldsIn(conversationId)).length).toBeGreaterThan(1);

  // In a later turn, and by a process that has held nothing of it.
  const other = await deployment.start();
  const handle = (await foldsIn(conversationId))[0]?.data.handle;
  const later = await api
    .at(other)
    .ask(conversationId, `[[sim: call ${READ_RESULT} {"id":"${handle}","page":3}]] [[sim: echo]]`);
  expect(later.answer).toBe(pages[2]);
});

it('reads nothing that is not folded on the path of the call, and says so', async () => {
  const conversationId = await api.conversation(['lookup'], model(20_000));
  const read = async (id: string, page = 1) => {
    const ask = `[[sim: call ${READ_RESULT} {"id":"${id}","page":${page}}]] [[sim: echo]]`;
    return (await api.ask(conversationId, ask)).answer;
  };
  expect(await read('nonsense')).toMatch(/^No result of the id "nonsense" is folded here/);

  const secret = `CANARY ${'secret '.repeat(50_000)}`;
  deployment.tools.behave(() => ({ text: secret }));
  const asked = await api.ask(conversationId, '[[sim: call lookup {}]] [[sim: say kept]]');
  const handle = (await foldsIn(conversationId))[0]?.data.handle ?? '';
  expect(await read(handle)).toMatch(/CANARY/);
  expect(await read(handle, 999)).toMatch(/has \d+ pages, and no page 999/);

  await api.edit(conversationId, asked.turnId, '[[sim: say without it]]');
  const elsewhere = await read(handle);
  expect(elsewhere).toMatch(/No result of the id .* is folded here/);
  expect(elsewhere).not.toMatch(/CANARY/);
});

it('folds on one branch what stands whole on another', async () => {
  deployment.tools.behave(() => ({ text: 'word '.repeat(8_000) }));
  const conversationId = await api.conversation(['lookup'], { ...model(16_000), context: { folds: null } });
  const first = await api.ask(conversationId, 'q1 [[sim: call lookup {}]] [[sim: say one]]');
  expect(await foldsIn(conversationId)).toEqual([]);
  const second = await api.ask(conversationId, 'q2 [[sim: call lookup {}]] [[sim: say two]]');
  const [fold] = await foldsIn(conversationId);
  // The older one had to go; the newer one, of this turn, has room then.
  expect(fold?.data).toMatchObject({ toolCallId: `${first.nodes[0]}-0`, nodeId: second.nodes[1] });
  const whole = 'word word word '.repeat(500);
  expect((await replayOfLast(second)).body.split(whole)).toHaveLength(6);

  const edited = await api.edit(conversationId, second.turnId, 'q2 again [[sim: say other]]');
  const replay = await replayOfLast(edited);
  expect(replay.body).toContain(whole);
  expect(replay.body).not.toContain('read_result {');
  await api.switchTo(conversationId, second.head ?? '');
  expect((await replayOfLast(await api.ask(conversationId, 'q3 [[sim: say three]]'))).body).toContain('read_result {');
});

it('fails a turn whose request cannot fit, with both numbers and without a call, and takes the next one', async () => {
  const conversationId = await api.conversation(['lookup'], model(1_500));
  const before = await api.ask(conversationId, '[[sim: say before]]');
  const alone = await api.ask(conversationId, 'too long '.repeat(2_000));
  expect(alone).toMatchObject({ status: 'failed', error: { code: 'context_overflow' }, nodes: [], head: before.head });
  expect(alone.error?.detail).toMatch(/about \d+ tokens, with every tool result folded .* and the model takes 1500/);
  expect(deployment.model.captures.some(({ body }) => body.includes('too long too long'))).toBe(false);

  // The call's own arguments do not fit either: nothing may grow from the node that made it.
  const long = JSON.stringify({ note: 'too long '.repeat(900) });
  const turn = await api.ask(conversationId, `[[sim: rounds=1 tool=lookup args={}]] ok`);
  expect(turn.status).toBe('completed');
  const stuck = await api.conversation(['lookup'], { ...model(4_000), systemPrompt: 'Be brief.' });
  const failed = await api.ask(stuck, `[[sim: call lookup ${long}]]`);
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'context_overflow' }, head: null });
  expect(failed.nodes).toHaveLength(1);
  expect(await api.ask(stuck, '[[sim: say after]]')).toMatchObject({ status: 'completed', answer: 'after' });
});

it.each([2, 20])(
  'P07: carries a turn on over a result of %i MB, which is stored once and replays',
  async (size) => {
    const text = table(size * 1_000_000);
    deployment.tools.behave(() => ({ text }));
    const conversationId = await api.conversation(['lookup']);
    const turn = await api.ask(conversationId, '[[sim: call lookup {}]] [[sim: say done]]');
    expect(turn).toMatchObject({ status: 'completed', answer: 'done' });
    await api.ask(conversationId, '[[sim: say and on]]');
    const result = (await eventsOf(process, conversationId)).find((event) => event.type === 'ToolExecuted');
    expect(result?.type === 'ToolExecuted' && result.content.text === text).toBe(true);
    expect(await payloadsOf(conversationId)).toEqual(['ToolExecuted']);
    for (const nodeId of (await api.tree(conversationId)).nodes.map(({ id }) => id))
      expect(await api.replay(nodeId)).toMatchObject({ verified: true });
  },
  120_000,
);

/** README, "Limits": what a turn with a result of 20 MB takes beyond what the process had before. */
const MEMORY_OF_A_TURN = 300 * MiB;

it('P07: takes no more memory for a turn with a result of 20 MB than the README says', async () => {
  const own = await deployment.spawn();
  const there = api.at(own);
  const { assistantId } = await there.assistant({
    tools: [{ type: 'http', name: 'lookup' }],
    model: { provider: 'openai', name: 'simulated' },
  });
  const ask = async (text: string) => {
    deployment.tools.behave(() => ({ text }));
    const { conversationId } = await there.start({ assistantId });
    return there.ask(conversationId, '[[sim: call lookup {}]] [[sim: say done]]');
  };
  for (let warm = 0; warm < 5; warm += 1) await ask('small');
  const memory = PeakMemory.of(own.pid);
  if (!memory) return; // the kernel counts on Linux alone
  const before = memory.now;
  memory.begin();
  expect(await ask(table(20_000_000))).toMatchObject({ status: 'completed', answer: 'done' });
  expect(memory.peak - before).toBeLessThan(MEMORY_OF_A_TURN);
  await own.close();
}, 120_000);

it('every shipped projection is what a rebuild makes of the log', async () => {
  expect(await deployment.faultsOfReadModels(process)).toEqual([]);
});
