import {
  answer,
  AskQuestion,
  AwaitTurn,
  CreateAssistantVersion,
  DiffNodes,
  GetConversation,
  ListConversations,
  refused,
  StartConversation,
} from '@palimpsest/application';
import { completedTurn, ids, keys, startEdge, type EdgeUnderTest } from '../../testing/edge-under-test';
import { problemKinds } from './problem-codes';

let edge: EdgeUnderTest;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

const bodyOf = async (response: Response): Promise<Record<string, unknown>> =>
  (await response.json()) as Record<string, unknown>;
const json = { authorization: `Bearer ${keys.tenant}`, 'content-type': 'application/json' };
const turns = `/v1/conversations/${ids.conversation}/turns`;

const call = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(edge.url + path, { headers: json, ...init });
const post = (
  path: string,
  body: NonNullable<RequestInit['body']>,
  headers: Record<string, string> = {},
): Promise<Response> => call(path, { method: 'POST', body, headers: { ...json, ...headers } });
const code = async (response: Response): Promise<[number, string]> => {
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  const body = await bodyOf(response);
  expect(body).toMatchObject({
    status: response.status,
    title: expect.any(String),
    detail: expect.stringMatching(/\.$/),
  });
  return [response.status, body['code'] as string];
};
const answered = (): void => {
  edge.bus
    .on(AskQuestion, () => answer({ turnId: ids.turn, revision: 3n, position: 30n }))
    .on(AwaitTurn, () => answer(completedTurn));
};

describe('API keys', () => {
  it.each([
    ['none', undefined],
    ['an unknown one', 'Bearer nobody'],
    ['another scheme', 'Basic a2V5'],
    ['no secret', 'Bearer '],
  ])('refuses %s with 401, before it reads the body', async (_, authorization) => {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (authorization !== undefined) headers['authorization'] = authorization;
    const response = await call(turns, { method: 'POST', headers, body: '{not json' });
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(await code(response)).toEqual([401, 'unauthorized']);
  });

  it('gives metrics to operators alone, and v1 to tenants alone', async () => {
    const operator = { headers: { authorization: `Bearer ${keys.operator}` } };
    expect(await code(await call('/metrics'))).toEqual([403, 'forbidden']);
    expect(await code(await call('/v1/conversations', operator))).toEqual([403, 'forbidden']);
    const metrics = await call('/metrics', operator);
    expect(metrics.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await metrics.text()).toContain('route="/v1/conversations"');
  });
});

describe('bodies', () => {
  it.each<[string, NonNullable<RequestInit['body']>, number, string, Record<string, string>?]>([
    ['malformed JSON', '{"text":', 400, 'validation_failed'],
    ['an empty body', '', 400, 'validation_failed'],
    ['no object', '[1]', 400, 'validation_failed'],
    ['null', 'null', 400, 'validation_failed'],
    [
      'invalid UTF-8',
      Buffer.from([...Buffer.from('{"text":"'), 0xff, 0xfe, ...Buffer.from('"}')]),
      400,
      'validation_failed',
    ],
    ['an unknown field', '{"text":"a","bold":true}', 400, 'validation_failed'],
    ['a whole history', '{"messages":[{"role":"user","content":"a"}]}', 400, 'validation_failed'],
    ['a wrong type', '{"text":1}', 400, 'validation_failed'],
    ['a number as text', '{"text":"a","assistantVersion":"1"}', 400, 'validation_failed'],
    ['null for a field', '{"text":"a","parent":null}', 400, 'validation_failed'],
    ['a blank text', '{"text":" \\n"}', 400, 'validation_failed'],
    ['__proto__', '{"text":"a","__proto__":{"admin":true}}', 400, 'validation_failed'],
    ['an escaped __proto__', '{"text":"a","\\u005f_proto__":{}}', 400, 'validation_failed'],
    ['constructor', '{"text":"a","constructor":{"prototype":{}}}', 400, 'validation_failed'],
    ['hasOwnProperty', '{"text":"a","hasOwnProperty":1}', 400, 'validation_failed'],
    ['deep nesting', `{"text":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 400, 'validation_failed'],
    ['a number beyond JSON', '{"text":"a","assistantVersion":1e400}', 400, 'validation_failed'],
    ['a form', 'text=a', 415, 'unsupported_media_type', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['plain text', 'hello', 415, 'unsupported_media_type', { 'content-type': 'text/plain' }],
    ['a body that is too large', JSON.stringify({ text: 'a'.repeat(70_000) }), 413, 'payload_too_large'],
    ['a parent of no form', '{"text":"a","parent":"nope"}', 404, 'unknown_parent'],
  ])('refuses %s', async (_, body, status, expected, headers = {}) => {
    answered();
    const before = edge.bus.received.length;
    expect(await code(await post(turns, body, headers))).toEqual([status, expected]);
    expect(edge.bus.received).toHaveLength(before);
  });

  it('says which field breaks which rule, and repeats no value', async () => {
    const response = await post(turns, '{"text":5,"assistantVersion":0,"canary":"kanarienvogel"}');
    const body = await bodyOf(response);
    expect(body['errors']).toEqual(
      expect.arrayContaining([
        { field: 'text', rule: 'must be a text that is not blank' },
        { field: 'canary', rule: 'is not known here' },
      ]),
    );
    expect(JSON.stringify(body)).not.toContain('kanarienvogel');
  });

  it.each([
    ['NUL', 'a\u0000b'],
    ['a lone surrogate', 'a\ud800b'],
    ['an emoji', '👩‍👩‍👧 ok'],
    ['right-to-left text', 'مرحبا \u202e שלום'],
  ])('lets %s through untouched, both ways', async (_, text) => {
    answered();
    edge.bus.on(AwaitTurn, () => answer({ ...completedTurn, answer: text }));
    const response = await post(turns, JSON.stringify({ text }));
    expect(edge.bus.last(AskQuestion).text).toBe(text);
    expect((await bodyOf(response))['answer']).toBe(text);
  });

  it('takes no body for a body where none is needed', async () => {
    const response = await call(`${turns}/${ids.turn}/regenerate`, {
      method: 'POST',
      headers: { authorization: json.authorization },
    });
    expect(await code(response)).toEqual([404, 'not_found']);
  });

  it('checks the fields of an assistant, nested ones too', async () => {
    edge.bus.on(CreateAssistantVersion, () =>
      answer({ assistantId: ids.assistant, version: 1, revision: 0n, position: 1n }),
    );
    const good = { name: 'Sales', systemPrompt: 'You help.', tools: [{ type: 'builtin', name: 'sql' }] };
    const tryWith = async (fields: object): Promise<number> =>
      (await post('/v1/assistants', JSON.stringify({ ...good, ...fields }))).status;
    expect(await tryWith({})).toBe(201);
    expect(await tryWith({ model: { provider: 'openai', name: 'gpt', params: { temperature: 0.5 } } })).toBe(201);
    expect(await tryWith({ zone: 'Asia/Seoul', locale: 'ko-KR' })).toBe(201);
    const wrong: object[] = [
      { zone: 'Mars/Olympus' },
      { zone: '+09:00' },
      { locale: 'not a locale' },
      { name: 'a\u0000' },
      { name: '\ud800' },
      { model: [] },
      { model: 'gpt' },
      { model: { provider: 'other', name: 'x' } },
      { model: { provider: 'openai', name: 'x', params: [] } },
      { model: { provider: 'openai', name: 'x', inputCap: 1.5 } },
      { model: { provider: 'openai', name: 'x', params: { constructor: 'x' } } },
      { model: { provider: 'openai', name: 'x', params: { toString: 1 } } },
      { tools: [1] },
      { tools: [null] },
      { tools: [[]] },
      { tools: {} },
      { tools: [{ type: 'builtin', name: 'sql', url: 'http://x' }] },
    ];
    for (const fields of wrong) expect([fields, await tryWith(fields)]).toEqual([fields, 400]);
    expect(await tryWith({ assistantId: 'nope' })).toBe(404);
  });
});

describe('paths and queries', () => {
  it.each([
    ['a route that is not', '/v1/nowhere'],
    ['an id of another form', '/v1/conversations/nope'],
    ['an id with NUL', `/v1/nodes/${encodeURIComponent('a\u0000b')}`],
    ['an emoji for an id', '/v1/nodes/%F0%9F%98%80/replay'],
    ['an endless id', `/v1/nodes/${'a'.repeat(3000)}`],
  ])('finds nothing at %s', async (_, path) => {
    expect(await code(await call(path))).toEqual([404, 'not_found']);
  });

  it('refuses a path that is no path', async () => {
    expect(await code(await call('/v1/nodes/%ff'))).toEqual([400, 'validation_failed']);
  });

  it('says which methods a path takes', async () => {
    const response = await call(turns, { method: 'DELETE' });
    expect(response.headers.get('allow')).toBe('POST');
    expect(await code(response)).toEqual([405, 'method_not_allowed']);
  });

  it('passes pages and revisions on, and refuses others', async () => {
    edge.bus.on(ListConversations, () => answer({ items: [], next: null }));
    expect(await (await call('/v1/conversations')).json()).toEqual({ items: [], next: null });
    expect(edge.bus.last(ListConversations).page).toEqual({ limit: 50 });
    await call('/v1/conversations?limit=200&cursor=abc&minPosition=90071992547409931');
    expect(edge.bus.last(ListConversations).page).toEqual({
      limit: 200,
      cursor: 'abc',
      minPosition: 90071992547409931n,
    });
    for (const query of [
      'limit=0',
      'limit=201',
      'limit=1e1',
      'limit=1&limit=2',
      'cursor=%00',
      'minPosition=-1',
      'other=1',
    ])
      expect(await code(await call(`/v1/conversations?${query}`))).toEqual([400, 'validation_failed']);
    const conversation = `/v1/conversations/${ids.conversation}`;
    await call(`${conversation}?minRevision=12`);
    expect(edge.bus.last(GetConversation)).toMatchObject({
      conversationId: ids.conversation,
      atLeast: { minRevision: 12n },
    });
    await call(`/v1/nodes/${ids.node}/diff?with=${ids.node}&minRevision=12&minPosition=34`);
    expect(edge.bus.last(DiffNodes).atLeast).toEqual({ minRevision: 12n, minPosition: 34n });
    expect(await code(await call(`${conversation}?minRevision=99999999999999999999`))).toEqual([
      400,
      'validation_failed',
    ]);
  });
});

describe('idempotency keys', () => {
  it('go with the method, the concrete path in one spelling, and the body as received', async () => {
    answered();
    await post(
      turns.toUpperCase().replace('/V1/CONVERSATIONS', '/v1/conversations').replace('TURNS', 'turns'),
      '{"text":"a"}',
      { 'idempotency-key': 'k 1' },
    );
    expect(edge.bus.last(AskQuestion).idempotency).toEqual({ route: `POST ${turns}`, key: 'k 1', body: { text: 'a' } });
    await post(turns, '{"text":"a"}');
    const first = edge.bus.last(AskQuestion).idempotency.key;
    await post(turns, '{"text":"a"}');
    expect(edge.bus.last(AskQuestion).idempotency.key).not.toBe(first);
  });

  it.each([
    ['empty', ''],
    ['too long', 'k'.repeat(256)],
    ['not ASCII', 'schlüssel'],
  ])('are refused where %s', async (_, key) => {
    expect(await code(await post(turns, '{"text":"a"}', { 'idempotency-key': key }))).toEqual([
      400,
      'validation_failed',
    ]);
  });
});

describe('answers', () => {
  it('gives every refusal its status, code and numbers', async () => {
    for (const [name, { status }] of Object.entries(problemKinds)) {
      edge.bus.on(AskQuestion, () => refused(name as never, 'A sentence.', { runningTurnId: 't', revision: 5n }));
      const response = await post(turns, '{"text":"a"}');
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({
        code: name,
        status,
        detail: 'A sentence.',
        runningTurnId: 't',
        revision: '5',
      });
    }
  });

  it('asks to come back later where that helps', async () => {
    edge.bus.on(AskQuestion, () => refused('too_many_turns', 'Too many.'));
    expect((await post(turns, '{"text":"a"}')).headers.get('retry-after')).toBe('1');
  });

  it('answers 201 for a turn, 200 for one that failed, and decimal strings for big numbers', async () => {
    answered();
    const created = await post(turns, '{"text":"a"}');
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe(`${turns}/${ids.turn}`);
    expect(created.headers.get('traceparent')).toContain(ids.turn.replaceAll('-', ''));
    expect(await created.json()).toMatchObject({ revision: '7', position: '90071992547409931', status: 'completed' });
    edge.bus.on(AwaitTurn, () => answer({ ...completedTurn, status: 'failed', answer: null }));
    expect((await post(turns, '{"text":"a"}')).status).toBe(200);
  });

  it('says that it is not ready while the database is away, and to send the same again', async () => {
    edge.bus.on(StartConversation, () => {
      throw Object.assign(new Error('the database system is starting up'), { code: '57P03' });
    });
    const response = await post(`/v1/conversations`, JSON.stringify({ assistantId: ids.assistant }));
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await bodyOf(response)).toMatchObject({ code: 'not_ready' });
  });

  it('says nothing of what broke, logs where, and logs no word of a person', async () => {
    const canary = 'kanarienvogel';
    edge.bus.on(StartConversation, () => {
      throw new TypeError(`cannot read ${canary}`);
    });
    const body = JSON.stringify({ assistantId: ids.assistant, subjectId: canary });
    const response = await post(`/v1/conversations`, body, { 'x-canary': canary, 'idempotency-key': canary });
    expect(response.status).toBe(500);
    const problem = await bodyOf(response);
    expect(problem).toMatchObject({ code: 'internal_error', requestId: response.headers.get('x-request-id') });
    await call(`/v1/nodes/${canary}?q=${canary}`);
    await post(turns, `{"${canary}":"${canary}"`);
    const lines = edge.logLines.join('');
    expect(lines).toContain(problem['requestId']);
    expect(lines).toContain('"type":"TypeError"');
    expect(lines).toContain('"route":"/v1/nodes/:id"');
    expect(lines).not.toContain(canary);
    expect(lines).not.toContain(keys.tenant);
    expect(JSON.stringify(problem)).not.toContain(canary);
  });
});

describe('health', () => {
  it('is open, and says 503 with the checks while not ready', async () => {
    expect((await fetch(`${edge.url}/healthz`)).status).toBe(200);
    expect(await (await fetch(`${edge.url}/readyz`)).json()).toEqual({ ready: true, checks: { log: { ok: true } } });
    edge.readiness = { ready: false, checks: { keys: { ok: false, detail: 'key_lost' } } };
    const response = await fetch(`${edge.url}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      code: 'not_ready',
      checks: { keys: { ok: false, detail: 'key_lost' } },
    });
    edge.readiness = { ready: true, checks: {} };
  });
});
