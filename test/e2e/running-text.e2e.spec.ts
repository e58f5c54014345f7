import type { Client } from '../support/client';
import { Deployment, type InnerProcess } from '../support/installation';

let deployment: Deployment;
let one: InnerProcess;
let two: InnerProcess;
let api: Client;

beforeAll(async () => {
  deployment = await Deployment.open();
  one = await deployment.start();
  two = await deployment.start();
  api = await deployment.client(one);
});
afterAll(() => deployment.close());

const words = Array.from({ length: 30 }, (_, n) => `word${n}`).join(' ');
const question = `[[sim: slow ms=50]] [[sim: say ${words}]]`;

describe('a turn that another process carries', () => {
  it('D01: is followed there, its running text too, from where it stands', async () => {
    const conversationId = await api.conversation();
    const { turnId, frames: here } = await api.begin(conversationId, question);
    await here.until('text.delta');
    here.leave();

    const frames = await (await api.at(two).follow(conversationId, turnId)).rest();
    const running = frames.filter(({ event }) => event.startsWith('text.'));
    const text = running.reduce(
      (all, { event, data }) => (event === 'text.snapshot' ? data.text : all + data.text),
      '',
    );
    expect(running.length).toBeGreaterThan(1);
    expect(text).toBe(words);
    expect(frames.at(-1)).toMatchObject({ event: 'turn.finished', data: { status: 'completed', answer: words } });
  });

  it('shows its running text to nobody without the token of the installation', async () => {
    const conversationId = await api.conversation();
    const { frames: here } = await api.begin(conversationId, question);
    const { nodeId } = (await here.until('text.delta')).at(-1)?.data as { nodeId: string };
    const url = `${one.url}/internal/conversations/${conversationId}/nodes/${nodeId}/text`;
    for (const authorization of ['', 'Bearer wrong', `Bearer ${api.apiKey}`])
      expect((await fetch(url, { headers: { authorization } })).status).toBe(404);
    await here.rest();
  });
});
