import type { Client } from '../support/client';
import { Deployment, type Process } from '../support/installation';
import { type Frame, hasText, isText, runningTextsOf, textsOf } from '../support/sse';

const idOfLast = (frames: readonly Frame[]) => frames.findLast(({ id }) => id !== undefined)?.id;

let deployment: Deployment;
let one: Process;
let two: Process;
let api: Client;

beforeAll(async () => {
  deployment = await Deployment.open();
  one = await deployment.start();
  two = await deployment.startBeside();
  api = await deployment.client(one);
});
afterAll(() => deployment.close());

const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ');
/** Characters of the first ten. */
const tenWords = words.indexOf(' word10');
const question = `[[sim: slow ms=50]] [[sim: say ${words}]]`;

/** What ran stood in its place, however much of it was piped here before the answer came. */
function expectTheWords(frames: readonly Frame[]) {
  const [running = ''] = runningTextsOf(frames);
  expect(running.length).toBeGreaterThan(0);
  expect(running).toBe(words.slice(0, running.length));
  expect([...textsOf(frames).values()]).toEqual([words]);
}

describe('a client that leaves, and comes back at another process', () => {
  it('D01: at token 10: the full answer and its usage are stored', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames } = await api.begin(conversationId, question);
    await frames.until(hasText(tenWords));
    frames.leave();
    const there = api.at(two);
    const turn = await there.ended(conversationId, turnId);
    expect(turn).toMatchObject({ status: 'completed', answer: words });
    expect(turn.usage.outputTokens).toBeGreaterThan(10);
    expect((await there.usage(conversationId, turn.revision)).total.usage).toEqual(turn.usage);
    const { received } = await there.node(turn.nodes[0] ?? '', turn.revision);
    expect(received).toMatchObject([{ type: 'assistant', text: words }]);
  });

  it('D02: before the first token: the answer is there on return', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames } = await api.begin(conversationId, '[[sim: stall ms=400]] [[sim: say there you are]]');
    frames.leave();
    const there = api.at(two);
    expect((await (await there.follow(conversationId, turnId)).rest()).at(-1)).toMatchObject({
      event: 'turn.finished',
      data: { status: 'completed', answer: 'there you are' },
    });
    const { revision } = await there.turn(conversationId, turnId);
    const { bubbles } = await there.transcript(conversationId, revision);
    expect(bubbles.at(-1)).toMatchObject({ role: 'assistant', text: 'there you are' });
  });
});

describe('a turn that another process carries', () => {
  it('D01: is followed there, its running text too, from where it stands', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames: here } = await api.begin(conversationId, question);
    await here.until(isText);
    here.leave();

    const frames = await (await api.at(two).follow(conversationId, turnId)).rest();
    expect(frames.filter(isText).length).toBeGreaterThan(1);
    expectTheWords(frames);
    expect(frames.at(-1)).toMatchObject({ event: 'turn.finished', data: { status: 'completed', answer: words } });
  });

  it('D01: is left there and followed there again, as often as one likes: the text goes on, and is whole', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames: here } = await api.begin(conversationId, question);
    here.leave();
    const seen: Frame[] = [];
    for (let left = 0; left < 3; left += 1) {
      const again = await api.at(two).follow(conversationId, turnId, idOfLast(seen));
      let texts = 0;
      seen.push(...(await again.until((frame) => isText(frame) && ++texts === 3)));
      again.leave();
    }
    seen.push(...(await (await api.at(two).follow(conversationId, turnId, idOfLast(seen))).rest()));
    expectTheWords(seen);
    expect(seen.at(-1)).toMatchObject({ event: 'turn.finished', data: { answer: words } });
  });

  it('is followed there by two, of whom one leaves: the other one reads on', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames: here } = await api.begin(conversationId, question);
    here.leave();
    const leaving = await api.at(two).follow(conversationId, turnId);
    await leaving.until(isText);
    const staying = await api.at(two).follow(conversationId, turnId);
    const seen = [...(await staying.until('text.snapshot'))];
    leaving.leave();
    seen.push(...(await staying.rest()));
    expect(seen.filter(({ event }) => event === 'text.delta').length).toBeGreaterThan(5);
    expectTheWords(seen);
  });

  it('is cancelled there: what a person saw here is kept for the audit', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames: here } = await api.begin(conversationId, question);
    const seen = await here.until(isText);
    const { revision } = await api.at(two).cancel(conversationId, turnId);
    const { failure } = await api.at(two).node(`${turnId}-1`, revision);
    expect(failure?.partial).toContain(String(seen.at(-1)?.data.text).trim());
  });

  it('shows its running text to nobody without the token of the installation', async () => {
    const conversationId = await api.conversation();
    const { frames: here } = await api.begin(conversationId, question);
    const { nodeId } = (await here.until(isText)).at(-1)?.data as { nodeId: string };
    const url = `${one.url}/internal/conversations/${conversationId}/nodes/${nodeId}/text`;
    for (const authorization of ['', 'Bearer wrong', `Bearer ${api.apiKey}`])
      expect((await fetch(url, { headers: { authorization } })).status).toBe(404);
    await here.rest();
  });
});
