import fc from 'fast-check';
import { connect } from 'node:net';
import { ids, keys, startEdge, type EdgeUnderTest } from '../../testing/edge-under-test';
import { problemKinds } from './problem-codes';

let edge: EdgeUnderTest;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Buffer | undefined;
}

const conversation = `/v1/conversations/${ids.conversation}`;
const turn = `${conversation}/turns/${ids.turn}`;
const good = { text: 'a', name: 'n', systemPrompt: 's', assistantId: ids.assistant, nodeId: ids.node };
const routes = [
  ['POST', '/v1/assistants'],
  ['POST', '/v1/conversations'],
  ['GET', '/v1/conversations'],
  ['GET', conversation],
  ['GET', `${conversation}/transcript`],
  ['GET', `${conversation}/tree`],
  ['GET', `${conversation}/usage`],
  ['PUT', `${conversation}/head`],
  ['POST', `${conversation}/clear`],
  ['POST', `${conversation}/compactions`],
  ['DELETE', conversation],
  ['GET', '/v1/approvals'],
  ['POST', `${conversation}/turns`],
  ['GET', turn],
  ['POST', `${turn}/edit`],
  ['POST', `${turn}/regenerate`],
  ['POST', `${turn}/cancel`],
  ['GET', `${turn}/events`],
  ['POST', `${conversation}/approvals/${ids.node}-0`],
  ['POST', `${conversation}/playbooks`],
  ['GET', `/v1/playbooks/${ids.turn}`],
  ['GET', `/v1/playbooks/${ids.turn}/versions`],
  ['POST', `/v1/playbooks/${ids.turn}/versions`],
  ['GET', `/v1/playbooks/${ids.turn}/diff`],
  ['POST', `/v1/playbooks/${ids.turn}/conversations`],
  ['GET', `/v1/lineage?node=${ids.node}`],
  ['POST', '/v1/backtests'],
  ['GET', '/v1/events'],
  ['GET', `/v1/nodes/${ids.node}`],
  ['POST', `/v1/nodes/${ids.node}/tags`],
  ['GET', `/v1/nodes/${ids.node}/replay`],
  ['GET', `/v1/nodes/${ids.node}/diff?with=${ids.node}`],
  ['GET', `/v1/nodes/${ids.node}/coverage`],
  ['GET', `/v1/nodes/${ids.node}/diagnosis`],
  ['GET', `${conversation}/context`],
  ['GET', `${conversation}/state`],
  ['POST', `${conversation}/state`],
  ['GET', `${conversation}/state/history?field=budget`],
  ['GET', `${conversation}/export`],
  ['POST', '/v1/imports'],
  ['POST', `/v1/nodes/${ids.node}/reissue`],
] as const;

const odd = fc.constantFrom(
  '__proto__',
  'constructor',
  'toString',
  '\u0000',
  '\ud800',
  '',
  '../..',
  "'; drop table x",
  '%00',
);
const word = fc.oneof(odd, fc.string({ unit: 'binary', maxLength: 20 }));
const fields = fc.constantFrom(
  ...Object.keys(good),
  'model',
  'tools',
  'zone',
  'locale',
  'version',
  'parent',
  'whenBusy',
  'subjectId',
);
const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.dictionary(fc.oneof(fields, word), fc.oneof(fc.jsonValue({ maxDepth: 3 }), word), { maxKeys: 6 }),
  fc.tuple(fields, fc.jsonValue({ maxDepth: 3 })).map(([field, value]) => ({ ...good, [field]: value })),
);
const body = fc.oneof(
  anyJson.map((value) => JSON.stringify(value)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(anyJson, fc.nat(200)).map(([value, cut]) => JSON.stringify(value).slice(0, cut)),
  fc.constantFrom('[', '{}', 'null', '1e999', '{"text":"\\ud800"}', '"', `${'{"a":'.repeat(500)}1${'}'.repeat(500)}`),
);
const headerText = fc.string({ unit: fc.constantFrom(...'abc 123,;=*/.q"\'éÿ'), maxLength: 30 });
const headers = fc.record(
  {
    'content-type': fc.constantFrom(
      'application/json',
      'application/json',
      'text/plain',
      'application/json; charset=latin1',
      ';',
      '',
    ),
    accept: fc.oneof(fc.constantFrom('application/json', 'text/event-stream', '*/*'), headerText),
    'idempotency-key': headerText,
    'last-event-id': headerText,
    traceparent: headerText,
  },
  { requiredKeys: [] },
);
const inPath = word.map((text) => encodeURIComponent(text.replace(/\p{Cs}/gu, '')));
const path = (known: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(known) },
    fc.tuple(fc.nat(6), inPath).map(([at, text]) =>
      known
        .split('/')
        .map((part, i) => (i === at + 1 ? text : part))
        .join('/'),
    ),
    fc
      .tuple(fc.constantFrom('limit', 'cursor', 'minRevision', 'minPosition', 'lastEventId', '__proto__'), inPath)
      .map(([name, value]) => `${known}?${name}=${value}`),
    fc.constantFrom('%', '%zz', '//', '/%2e%2e/', '?a[b]=c', ';x', '/').map((tail) => known + tail),
  );
const sent: fc.Arbitrary<Sent> = fc.constantFrom(...routes).chain(([method, known]) =>
  fc.record({
    method: fc.oneof(
      { weight: 9, arbitrary: fc.constant(method) },
      fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'),
    ),
    path: path(known),
    headers,
    body: fc.option(body, { nil: undefined }),
  }),
);

const send = ({ method, path: to, headers: extra, body: content }: Sent): Promise<Response> =>
  fetch(edge.url + to, {
    method,
    headers: { 'content-type': 'application/json', ...extra, authorization: `Bearer ${keys.tenant}` },
    ...(content === undefined || method === 'GET' ? {} : { body: content }),
  });

describe('whatever is sent', () => {
  it('is refused with a 4xx problem that has a code, and never breaks anything', async () => {
    await fc.assert(
      fc.asyncProperty(sent, async (request) => {
        const response = await send(request);
        const text = await response.text();
        expect(response.status).toBeGreaterThanOrEqual(400);
        expect(response.status).toBeLessThan(500);
        expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
        const problem = JSON.parse(text) as { code: string; status: number; detail: string };
        expect(Object.keys(problemKinds)).toContain(problem.code);
        expect(problem.status).toBe(response.status);
        expect(problem.detail).toMatch(/\.$/);
      }),
      { numRuns: 600 },
    );
    expect(edge.logLines.filter((line) => line.includes('"level":50'))).toEqual([]);
  });
});

describe('on the socket itself', () => {
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(edge.url);
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString()));
      socket.on('error', reject).on('close', () => resolve(answer));
    });
  const authorized = `host: x\r\nauthorization: Bearer ${keys.tenant}\r\nconnection: close\r\n`;

  it.each([
    ['noise', '\u0001\u0002\u0003\r\n\r\n', 400],
    ['no HTTP', 'hello there\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`, 413],
    ['a path with raw bytes', `GET /v1/nodes/\u00ff HTTP/1.1\r\n${authorized}\r\n`, 400],
    [
      'a length that lies',
      `POST ${conversation}/turns HTTP/1.1\r\n${authorized}content-type: application/json\r\ncontent-length: x\r\n\r\n{}`,
      400,
    ],
    [
      'a body that is announced too large',
      `POST ${conversation}/turns HTTP/1.1\r\n${authorized}content-type: application/json\r\ncontent-length: 99999999\r\n\r\n{`,
      413,
    ],
  ])('%s is answered with a problem', async (_, text, status) => {
    const answer = await raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).toMatch(/content-type: application\/problem\+json/i);
    expect(answer).toMatch(/"code":"\w+"/);
  });

  it('a client that sends far too much still reads why', async () => {
    for (let round = 0; round < 5; round += 1) {
      const response = await fetch(`${edge.url}${conversation}/turns`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.tenant}`, 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'a'.repeat(8_000_000) }),
      });
      expect(await response.json()).toMatchObject({ code: 'payload_too_large', maxBodyBytes: 65_536 });
    }
  });
});
