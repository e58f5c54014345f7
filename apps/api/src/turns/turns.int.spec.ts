import {
  answer,
  AskQuestion,
  AwaitTurn,
  DecideApproval,
  EditQuestion,
  FollowTurn,
  refused,
  RegenerateAnswer,
  type TurnFrame,
} from '@palimpsest/application';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { once } from 'node:events';
import { completedTurn, ids, keys, startEdge, type EdgeUnderTest } from '../../testing/edge-under-test';

let edge: EdgeUnderTest;
beforeEach(async () => {
  edge = await startEdge({ heartbeatMs: 50 });
  const started = answer({ turnId: ids.turn, revision: 3n, position: 30n });
  const start = (): typeof started => started;
  edge.bus.on(AskQuestion, start).on(EditQuestion, start).on(RegenerateAnswer, start).on(DecideApproval, start);
  edge.bus.on(AwaitTurn, () => answer(completedTurn));
});
afterEach(() => edge.close());

const turns = `/v1/conversations/${ids.conversation}/turns`;
const headers = { authorization: `Bearer ${keys.tenant}`, 'content-type': 'application/json' };
const ask = (accept: string, init: RequestInit = {}, path = turns, body = '{"text":"a"}'): Promise<Response> =>
  fetch(edge.url + path, { method: 'POST', headers: { ...headers, accept }, body, ...init });

const frames = (...list: TurnFrame[]) =>
  async function* (): AsyncGenerator<TurnFrame> {
    yield* list;
  };
const story: TurnFrame[] = [
  { id: '3.0', event: 'turn.started', data: { turnId: ids.turn } },
  { event: 'text.delta', data: { nodeId: ids.node, text: 'line\nbreak' } },
  { id: '7.0', event: 'turn.finished', data: completedTurn },
];
const messagesOf = async (response: Response): Promise<EventSourceMessage[]> => {
  const messages: EventSourceMessage[] = [];
  createParser({ onEvent: (message) => messages.push(message) }).feed(await response.text());
  return messages;
};

/** Ends only when the client leaves, or is sent away. */
function endless(left: { now?: true }): (query: FollowTurn) => unknown {
  return ({ client }) => {
    async function* follow(): AsyncGenerator<TurnFrame> {
      yield { id: '3.0', event: 'turn.started', data: {} };
      if (!client.aborted) await once(client, 'abort');
      left.now = true;
    }
    return answer(follow());
  };
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries += 1) {
    if (tries > 1_000) throw new Error('It did not come to hold in 10 s.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('a turn by Accept', () => {
  it.each([
    ['application/json', 201, 'application/json; charset=utf-8'],
    ['*/*', 201, 'application/json; charset=utf-8'],
    ['text/*', 200, 'text/event-stream; charset=utf-8'],
    ['text/event-stream', 200, 'text/event-stream; charset=utf-8'],
    ['application/json;q=0.5, text/event-stream', 200, 'text/event-stream; charset=utf-8'],
    ['text/html', 406, 'application/problem+json; charset=utf-8'],
    ['application/json;q=0', 406, 'application/problem+json; charset=utf-8'],
  ])('%s is answered %i with %s', async (accept, status, type) => {
    edge.bus.on(FollowTurn, () => answer(frames(...story)()));
    const response = await ask(accept);
    expect([response.status, response.headers.get('content-type')]).toEqual([status, type]);
    await response.text();
    if (status === 406) expect(edge.bus.received).toHaveLength(0);
  });

  it.each([
    [`${turns}/${ids.turn}/edit`, '{"text":"b"}'],
    [`${turns}/${ids.turn}/regenerate`, '{}'],
  ])('streams %s too', async (path, body) => {
    edge.bus.on(FollowTurn, () => answer(frames(...story)()));
    const messages = await messagesOf(await ask('text/event-stream', {}, path, body));
    expect(messages.map(({ id, event }) => [id, event])).toEqual([
      ['3.0', 'turn.started'],
      [undefined, 'text.delta'],
      ['7.0', 'turn.finished'],
    ]);
    expect(JSON.parse(messages[2]?.data ?? '')).toMatchObject({ status: 'completed', position: '90071992547409931' });
  });

  it('is a problem where it is refused before the first frame', async () => {
    edge.bus.on(FollowTurn, () => refused('shutting_down', 'Later.'));
    const response = await ask('text/event-stream');
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'shutting_down' });
  });

  it('waits for what follows a decision, and answers 200', async () => {
    const body = JSON.stringify({ decision: 'approve', argumentsDigest: 'abc' });
    const path = `/v1/conversations/${ids.conversation}/approvals/${ids.node}-0`;
    expect((await ask('application/json', {}, path, body)).status).toBe(200);
    expect(edge.bus.last(AwaitTurn).from).toBe(3n);
    expect(edge.bus.last(DecideApproval)).toMatchObject({ toolCallId: `${ids.node}-0`, decision: 'approve' });
  });
});

describe('following', () => {
  const follow = (query = '', more: Record<string, string> = {}): Promise<Response> =>
    fetch(`${edge.url}${turns}/${ids.turn}/events${query}`, { headers: { ...headers, ...more } });

  it('goes on after the last frame that the client has', async () => {
    edge.bus.on(FollowTurn, () => answer(frames()()));
    await (await follow('?lastEventId=4.1')).text();
    expect(edge.bus.last(FollowTurn).lastEventId).toBe('4.1');
    await (await follow('?lastEventId=4.1', { 'last-event-id': '5.0' })).text();
    expect(edge.bus.last(FollowTurn).lastEventId).toBe('5.0');
    await (await follow('', { 'last-event-id': '' })).text();
    expect(edge.bus.last(FollowTurn).lastEventId).toBeUndefined();
    expect((await follow('?lastEventId=x')).status).toBe(400);
    expect((await follow('', { 'last-event-id': '4.' })).status).toBe(400);
  });

  it('answers HEAD without waiting for the turn', async () => {
    edge.bus.on(FollowTurn, endless({}));
    const response = await fetch(`${edge.url}${turns}/${ids.turn}/events`, { method: 'HEAD', headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });

  it('sends a comment in each silence', async () => {
    const left: { now?: true } = {};
    edge.bus.on(FollowTurn, endless(left));
    const response = await follow();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!text.includes(': heartbeat')) text += Buffer.from((await reader.read()).value ?? []).toString();
    expect(text).toMatch(/^retry: 2000\n\nid: 3\.0\n/);
    await reader.cancel();
  });

  it('reads no more frames than a slow client takes', async () => {
    let produced = 0;
    edge.bus.on(FollowTurn, ({ client }) => {
      async function* flood(): AsyncGenerator<TurnFrame> {
        for (; produced < 10_000 && !client.aborted; produced += 1)
          yield { event: 'text.delta', data: { text: 'x'.repeat(10_000) } };
      }
      return answer(flood());
    });
    const leaving = new AbortController();
    await fetch(`${edge.url}${turns}/${ids.turn}/events`, { headers, signal: leaving.signal });
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(produced).toBeLessThan(2_000);
    leaving.abort();
  });
});

describe('a client that leaves', () => {
  it('D01: mid-stream ends the following, not the turn, and is no error', async () => {
    const left: { now?: true } = {};
    edge.bus.on(FollowTurn, endless(left));
    const leaving = new AbortController();
    const response = await ask('text/event-stream', { signal: leaving.signal });
    await (response.body as ReadableStream).getReader().read();
    leaving.abort();
    await until(() => left.now === true);
    await until(() => edge.logLines.length > 0);
    expect(edge.logLines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ level: 30, clientLeft: true, traceId: ids.turn.replaceAll('-', '') }),
    ]);
    expect(edge.bus.received.map(({ constructor }) => constructor.name)).toEqual(['AskQuestion', 'FollowTurn']);
  });

  it('D02: before the answer ends the waiting, not the turn, and is no error', async () => {
    let left = false;
    edge.bus.on(AwaitTurn, async ({ client }) => {
      await once(client, 'abort');
      left = true;
      throw client.reason;
    });
    const leaving = new AbortController();
    const asking = ask('application/json', { signal: leaving.signal }).catch(() => undefined);
    await until(() => edge.bus.received.length === 2);
    leaving.abort();
    await asking;
    await until(() => left && edge.logLines.length > 0);
    expect(edge.logLines).toHaveLength(1);
    expect(edge.logLines[0]).not.toContain('"level":50');
  });
});

describe('the end of the process', () => {
  it('ends streams at a frame’s end, tells those who wait, and keeps nobody', async () => {
    const left: { now?: true } = {};
    edge.bus.on(FollowTurn, endless(left));
    edge.bus.on(AwaitTurn, async ({ client }) => {
      await once(client, 'abort');
      throw client.reason;
    });
    const stream = await ask('text/event-stream');
    const waiting = ask('application/json');
    await until(() => edge.bus.received.length === 4);
    await edge.close();
    expect(await stream.text()).toMatch(
      /^retry: 2000\n\nid: 3\.0\nevent: turn\.started\ndata: \{\}\n\n(: heartbeat\n\n)*$/,
    );
    const response = await waiting;
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'shutting_down', turnId: ids.turn });
  });
});
