import { type SimulatedModel, startSimulatedModel } from './start';

let server: SimulatedModel;
beforeAll(async () => {
  server = await startSimulatedModel();
});
afterAll(() => server.close());

interface Answer {
  readonly type?: string;
  readonly error?: Record<string, unknown>;
  readonly choices?: readonly unknown[];
}

async function post(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Answer }> {
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': 'k', 'anthropic-version': '2026-10-21', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer };
}

const user = { role: 'user', content: 'Hi' };
const block = (text: string): object => ({ type: 'text', text });

describe('the OpenAI format', () => {
  const path = '/v1/chat/completions';
  const calls = (...ids: string[]): object => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'sql', arguments: '{}' } })),
  });
  const tool = (id: string): object => ({ role: 'tool', tool_call_id: id, content: 'r' });

  it('answers whole where no stream is wanted', async () => {
    const { status, body } = await post(path, {
      model: 'simulated',
      messages: [{ role: 'user', content: '[[sim: say Hi]]' }],
    });
    expect(status).toBe(200);
    expect(body.choices?.[0]).toMatchObject({ message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' });
  });

  it.each<[string, object[]]>([
    ['a call without its result', [user, calls('a'), user]],
    ['one result of two', [user, calls('a', 'b'), tool('a'), user]],
    ['a result without its call', [user, tool('a')]],
    ['a result twice', [user, calls('a'), tool('a'), tool('a')]],
    ['a call at the end', [user, calls('a')]],
    ['an id twice', [user, calls('a'), tool('a'), calls('a'), tool('a')]],
    ['an id too long', [user, calls('x'.repeat(41)), tool('x'.repeat(41))]],
    ['an assistant who says nothing', [user, { role: 'assistant', content: null }]],
    ['an unknown role', [{ role: 'robot', content: 'Hi' }]],
    ['no content', [{ role: 'user' }]],
    ['no message', []],
  ])('refuses %s', async (_name, messages) => {
    const { status, body } = await post(path, { model: 'simulated', messages });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ type: 'invalid_request_error', param: null });
  });
});

describe('the Anthropic format', () => {
  const path = '/v1/messages';
  const use = (...ids: string[]): object => ({
    role: 'assistant',
    content: ids.map((id) => ({ type: 'tool_use', id, name: 'sql', input: {} })),
  });
  const results = (...ids: string[]): object => ({
    role: 'user',
    content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'r' })),
  });
  const says = (...content: object[]): object => ({ role: 'assistant', content });
  const mark = { cache_control: { type: 'ephemeral' } };

  it('answers whole where no stream is wanted', async () => {
    const messages = [{ role: 'user', content: '[[sim: think Hm]] [[sim: call sql {"a": 1}]]' }];
    const { status, body } = await post(path, { model: 'simulated', max_tokens: 9, messages });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Hm' },
        { type: 'tool_use', name: 'sql', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
    });
  });

  it.each<[string, object[]]>([
    ['a call without its result', [user, use('a'), user]],
    ['one result of two', [user, use('a', 'b'), results('a')]],
    ['results in two messages', [user, use('a', 'b'), results('a'), results('b')]],
    ['a result without its call', [user, results('a')]],
    ['a result twice', [user, use('a'), results('a', 'a')]],
    [
      'a text before a result',
      [user, use('a'), { role: 'user', content: [block('Hi'), { type: 'tool_result', tool_use_id: 'a' }] }],
    ],
    ['an id twice', [user, use('a'), results('a'), use('a'), results('a')]],
    ['an empty text', [{ role: 'user', content: [block('')] }]],
    ['a blank text', [user, says(block(' \n')), user]],
    ['no block', [{ role: 'user', content: [] }]],
    ['an answer first', [says(block('Hi')), user]],
    ['changed thinking', [user, says({ type: 'thinking', thinking: 'x', signature: 'c2ln' }, block('Hi')), user]],
    ['a field that is none of a block', [user, says({ ...block('Hi'), input_json: '' }), user]],
    [
      'a search without its result',
      [user, says({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }), user],
    ],
    ['a result of no search', [user, says({ type: 'web_search_tool_result', tool_use_id: 's', content: [] }), user]],
    ['five cache marks', [{ role: 'user', content: Array.from({ length: 5 }, () => ({ ...block('Hi'), ...mark })) }]],
    ['a system message', [{ role: 'system', content: 'Hi' }, user]],
  ])('refuses %s', async (_name, messages) => {
    const { status, body } = await post(path, { model: 'simulated', max_tokens: 9, messages });
    expect({ status, type: body.error?.['type'] }).toEqual({ status: 400, type: 'invalid_request_error' });
    expect(body.type).toBe('error');
  });

  it('refuses a request without max_tokens, or without a version', async () => {
    const whole = { model: 'simulated', max_tokens: 9, messages: [user] };
    expect((await post(path, whole)).status).toBe(200);
    expect((await post(path, { ...whole, max_tokens: undefined })).status).toBe(400);
    expect((await post(path, { ...whole, model: 7 })).status).toBe(400);
  });
});

it.each<[string, unknown, number]>([
  ['what is no JSON', '{"model":', 400],
  ['what is no object', '[]', 400],
  ['what is no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400],
])('refuses %s', async (_name, body, status) => {
  expect((await post('/v1/chat/completions', body)).status).toBe(status);
  expect((await post('/v1/messages', body)).status).toBe(status);
});

it('refuses a wrong key and an unknown path', async () => {
  expect((await post('/v1/messages', {}, { 'x-api-key': 'invalid' })).status).toBe(401);
  expect((await post('/v1/elsewhere', {})).status).toBe(404);
});

it('gives the same request the same answer', async () => {
  const body = { model: 'simulated', messages: [{ role: 'user', content: '[[sim: call sql {}]]' }] };
  const path = '/v1/chat/completions';
  expect(await post(path, body)).toEqual(await post(path, body));
});
