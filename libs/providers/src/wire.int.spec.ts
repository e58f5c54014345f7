import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answered, assistant, bodyOf, node, sourced, systemPrompt, wireCall } from '../testing';
import type { ProviderFailure, WireAnswer, WireCall } from './port';
import { OpenAiProvider } from './openai-chat/provider';
import { textOfItems } from './response-items';
import { SimulatedProvider } from './simulated/provider';
import { type SimulatedModel, startSimulatedModel } from './simulated/server/start';

let server: SimulatedModel;
let provider: SimulatedProvider;
beforeAll(async () => {
  server = await startSimulatedModel({ capture: true });
  provider = new SimulatedProvider({ baseUrl: server.url, timeoutMs: 5_000 });
});
afterAll(() => server.close());

describe.each(['simulated', 'simulated-anthropic'])('%s, over a real socket', (model) => {
  function callOf(question: string, more: Partial<WireCall> = {}): WireCall {
    const path = [node('t1-1', { question: sourced(question) })];
    return wireCall(provider.render({ assistant: assistant({ name: model }), systemPrompt, path }), more);
  }

  function ask(question: string, more: Partial<WireCall> = {}): Promise<WireAnswer> {
    return provider.call(callOf(question, more));
  }

  function textOf(answer: WireAnswer): string {
    return textOfItems(provider.itemsOf(answer.response, 'n', 1));
  }

  async function fail(question: string, more: Partial<WireCall> = {}, by = provider): Promise<ProviderFailure> {
    return by.call(callOf(question, more)).then(
      () => Promise.reject(new Error('The call succeeded.')),
      (error: ProviderFailure) => error,
    );
  }

  it('streams the text as it arrives, and tells the usage', async () => {
    const heard: string[] = [];
    const answer = await ask('[[sim: say Hello there, this is a longer text.]]', {
      onText: (delta) => heard.push(delta),
    });
    expect(heard.length).toBeGreaterThan(2);
    expect(heard.join('')).toBe('Hello there, this is a longer text.');
    expect(textOf(answer)).toBe('Hello there, this is a longer text.');
    expect(answer.usage.inputTokens).toBeGreaterThan(10);
    expect(answer.usage.outputTokens).toBeGreaterThan(5);
    expect(['stop', 'end_turn']).toContain(answer.stopReason);
  });

  it('P08: sends the very bytes that it was given', async () => {
    const call = callOf('NUL \u0000, lone \ud83d and \udc4d, 👍🏽, שלום, "quotes" \\ </p>');
    const before = server.captures.length;
    await provider.call(call);
    expect(server.captures[before]?.body.equals(Buffer.from(call.body))).toBe(true);
    expect(server.captures[before]?.headers['content-type']).toBe('application/json');
  });

  it('sends nothing where the bytes are not those of the digest', async () => {
    const before = server.captures.length;
    const { reason, more, message } = await fail('Hi', { sha256: '0'.repeat(64) });
    expect({ reason, retryable: more.retryable }).toEqual({ reason: 'invalid_request', retryable: false });
    expect(message).toContain('0'.repeat(64));
    expect(server.captures).toHaveLength(before);
  });

  it.each<[string, string, boolean, number | undefined]>([
    ['context_overflow', 'context_overflow', false, undefined],
    ['rate_limited retry_after_ms=120', 'rate_limited', true, 120],
    ['overloaded', 'overloaded', true, undefined],
    ['timeout', 'timeout', true, undefined],
    ['auth', 'auth', false, undefined],
    ['invalid_request', 'invalid_request', false, undefined],
    ['provider_error', 'provider_error', true, undefined],
  ])('sorts the refusal %s', async (directive, reason, retryable, retryAfterMs) => {
    const before = server.captures.length;
    const failure = await fail(`[[sim: fail ${directive}]]`);
    expect(failure.name).toBe('ProviderFailure');
    expect(failure.reason).toBe(reason);
    expect(failure.more.retryable).toBe(retryable);
    expect(failure.more.retryAfterMs).toBe(retryAfterMs);
    expect(failure.more.status).toBeGreaterThanOrEqual(400);
    expect(server.captures).toHaveLength(before + 1);
  });

  it.each(['overloaded', 'provider_error', 'rate_limited'])('sorts %s in the middle of a stream', async (reason) => {
    const failure = await fail(`[[sim: fail ${reason} after=6]] [[sim: say ${'word '.repeat(40)}]]`);
    expect(failure.reason).toBe(reason);
    expect(failure.more.partial).toMatch(/^word word/);
  });

  it('answers once the overload is over', async () => {
    const question = `[[sim: fail overloaded times=2]] [[sim: say at last]] ${model}`;
    expect((await fail(question)).reason).toBe('overloaded');
    expect((await fail(question)).reason).toBe('overloaded');
    expect(textOf(await ask(question))).toBe('at last');
  });

  it('fails with the text so far where the stream is cut', async () => {
    const { reason, more } = await fail(`[[sim: cut after=7]] [[sim: say ${'word '.repeat(40)}]]`);
    expect({ reason, retryable: more.retryable }).toEqual({ reason: 'provider_error', retryable: true });
    expect(more.partial).toMatch(/^word word/);
  });

  it('D04: makes no call of arguments that were cut', async () => {
    const { reason, more } = await fail(`[[sim: cut after=6]] [[sim: call sql {"query":"${'x'.repeat(200)}"}]]`);
    expect({ reason, partial: more.partial }).toEqual({ reason: 'provider_error', partial: undefined });
  });

  it.each(['after=0', 'after=6'])('gives up after silence (%s)', async (after) => {
    const impatient = new SimulatedProvider({ baseUrl: server.url, timeoutMs: 300 });
    const question = `[[sim: stall ms=20000 ${after}]] [[sim: say ${'word '.repeat(40)}]]`;
    const { reason, more } = await fail(question, {}, impatient);
    expect({ reason, retryable: more.retryable }).toEqual({ reason: 'timeout', retryable: true });
    expect(more.partial ?? '').toMatch(after === 'after=0' ? /^$/ : /^word/);
  });

  it('waits as long as something arrives', async () => {
    const impatient = new SimulatedProvider({ baseUrl: server.url, timeoutMs: 300 });
    const call = callOf(`[[sim: slow ms=60]] [[sim: say ${'word '.repeat(20)}]]`);
    expect(textOf(await impatient.call(call))).toContain('word');
  });

  it('takes no time in which this process stood still for silence', async () => {
    const impatient = new SimulatedProvider({ baseUrl: server.url, timeoutMs: 300 });
    let stands = true;
    const onText = () => {
      if (stands) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      stands = false;
    };
    const call = callOf(`[[sim: slow ms=60]] [[sim: say ${'word '.repeat(20)}]]`, { onText });
    expect(textOf(await impatient.call(call))).toContain('word');
    expect(stands).toBe(false);
  });

  it.each([0, 150])('is cancelled by its signal after %i ms', async (ms) => {
    const controller = new AbortController();
    if (ms === 0) controller.abort();
    else setTimeout(() => controller.abort(), ms);
    const question = `[[sim: slow ms=30]] [[sim: say ${'word '.repeat(80)}]]`;
    const { reason, more } = await fail(question, { signal: controller.signal });
    expect({ reason, retryable: more.retryable }).toEqual({ reason: 'cancelled', retryable: false });
  });

  it('keeps parallel calls in order, with their raw arguments', async () => {
    const raw = ['{"n":12345678901234567890,"10":1,"2":2}', '', '{"broken', ' {"a" : 1.0} '];
    const answer = await ask(raw.map((one) => `[[sim: call sql ${one}]]`).join(' '));
    const items = provider.itemsOf(answer.response, 'n', 1);
    expect(items.map((item) => item.type === 'tool_call' && [item.toolCallId, item.arguments.text])).toEqual(
      raw.map((one, index) => [`n-${index}`, one.trim()]),
    );
    expect(new Set(items.map((item) => item.type === 'tool_call' && item.providerCallId)).size).toBe(4);
  });

  it('carries any text there and back', async () => {
    const awkward = 'NUL \u0000, lone \ud83d and \udc4d, 👍🏽, שלום עולם, "quotes" \\ \u2028';
    expect(textOf(await ask(`[[sim: say ${awkward}]]`))).toBe(awkward);
    expect(textOf(await ask(`[[sim: echo]]${awkward}`))).toBe(awkward.trim());
  });

  it('carries a turn of several rounds, its thinking sent back unchanged', async () => {
    const question =
      '[[sim: think Deep thought, step by step.]] [[sim: rounds=3 parallel=2 tool=sql args={"query":"x"}]] [[sim: say done]]';
    const path = [node('t1-1', { question: sourced(question) })];
    for (let round = 1; round <= 4; round += 1) {
      const request = provider.render({ assistant: assistant({ name: model }), systemPrompt, path });
      expect(request.unpaired).toBe(0);
      const { response } = await provider.call(wireCall(request));
      const done = answered(provider, path.pop() as (typeof path)[0], response, round);
      expect(done.received?.items[0]).toMatchObject({
        type: 'reasoning',
        text: { text: 'Deep thought, step by step.' },
      });
      const calls = done.received?.items.filter((item) => item.type === 'tool_call') ?? [];
      expect(calls).toHaveLength(round < 4 ? 2 : 0);
      const results = calls.map(({ toolCallId }) => ({ toolCallId, result: sourced('r', 9), isError: false }));
      path.push(done, node(`t1-${round + 1}`, { results }));
    }
    expect(textOfItems(path.at(-2)?.received?.items ?? [])).toBe('done');
  });

  it('passes the word on by which the provider stopped', async () => {
    expect((await ask('[[sim: stop pause_turn]] [[sim: say x]]')).stopReason).toBe('pause_turn');
  });

  it('counts what a prompt cache would hold', async () => {
    const long = node('t1-1', { question: sourced(`[[sim: say ok]]${'history '.repeat(400)}`) });
    const first = provider.render({ assistant: assistant({ name: model }), systemPrompt, path: [long] });
    const { response, usage } = await provider.call(wireCall(first));
    expect(usage.cachedInputTokens).toBe(0);
    const path = [answered(provider, long, response), node('t2-1', { question: sourced('[[sim: say ok]]') })];
    const second = await provider.call(
      wireCall(provider.render({ assistant: assistant({ name: model }), systemPrompt, path })),
    );
    expect(second.usage.cachedInputTokens).toBeGreaterThan(500);
    expect(second.usage.cachedInputTokens).toBeLessThan(second.usage.inputTokens);
  });

  it('refuses a request beyond the context of its model', async () => {
    const path = [node('t1-1', { question: sourced('long '.repeat(1000)) })];
    const request = provider.render({ assistant: assistant({ name: `${model}-1k` }), systemPrompt, path });
    await expect(provider.call(wireCall(request))).rejects.toMatchObject({ reason: 'context_overflow' });
  });

  it('fails where nobody listens', async () => {
    const nobody = new SimulatedProvider({ baseUrl: 'http://127.0.0.1:1' });
    const { reason, more } = await fail('Hi', {}, nobody);
    expect({ reason, retryable: more.retryable }).toEqual({ reason: 'provider_error', retryable: true });
  });
});

it('keeps the tools of the provider itself and redacted thinking, and the server takes them back', async () => {
  const name = 'simulated-anthropic';
  const question = '[[sim: think]] [[sim: redacted]] [[sim: search]] [[sim: call sql {}]]';
  const first = node('t1-1', { question: sourced(question) });
  const { response } = await provider.call(
    wireCall(provider.render({ assistant: assistant({ name }), systemPrompt, path: [first] })),
  );
  const types = (response as { content: { type: string }[] }).content.map((block) => block.type);
  expect(types).toEqual(['thinking', 'redacted_thinking', 'server_tool_use', 'web_search_tool_result', 'tool_use']);
  const results = [{ toolCallId: 't1-1-0', result: sourced('r', 9), isError: false }];
  const path = [answered(provider, first, response), node('t1-2', { results })];
  const request = provider.render({ assistant: assistant({ name }), systemPrompt, path });
  expect(bodyOf(request).toString('utf8')).toContain('"server_tool_use"');
  await expect(provider.call(wireCall(request))).resolves.toMatchObject({ stopReason: 'end_turn' });
});

describe('a server of another kind', () => {
  let other: Server;
  let answer: { status: number; type: string; body: string; open?: boolean };
  const path = [node('t1-1', { question: sourced('Hi') })];
  let local: OpenAiProvider;
  beforeAll(async () => {
    other = createServer((_request, response) => {
      response.writeHead(answer.status, { 'content-type': answer.type, 'retry-after': '2' }).write(answer.body || '\n');
      if (answer.open !== true) response.end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    local = new OpenAiProvider({ apiKey: 'key', baseUrl: `http://127.0.0.1:${(other.address() as AddressInfo).port}` });
  });
  afterAll(() => other.closeAllConnections());
  afterAll(() => other.close());

  it.each([
    [
      { status: 200, type: 'application/json', body: '{"error":{"message":"no credit","code":402}}' },
      'rate_limited',
      'no credit',
    ],
    [{ status: 200, type: 'application/json', body: '{"choices":[]}' }, 'provider_error', 'without a stream'],
    [{ status: 200, type: 'text/event-stream', body: 'data: {"choi\n\n' }, 'provider_error', 'broke off'],
    [{ status: 200, type: 'text/event-stream', body: '' }, 'provider_error', 'ended before'],
    [{ status: 502, type: 'text/html', body: '<html>Bad gateway</html>' }, 'provider_error', 'Bad gateway'],
    [{ status: 429, type: 'application/json', body: '{"detail":"slow down"}' }, 'rate_limited', '429'],
  ])('%j', async (given, reason, detail) => {
    answer = given;
    const request = local.render({ assistant: assistant(), systemPrompt, path });
    await expect(local.call(wireCall(request))).rejects.toMatchObject({
      reason,
      message: expect.stringContaining(detail),
    });
  });

  it('is believed once its answer is whole, though it never closes the stream', async () => {
    const whole = '{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}';
    answer = { status: 200, type: 'text/event-stream', body: `data: ${whole}\n\ndata: [DONE]\n\n`, open: true };
    const request = local.render({ assistant: assistant(), systemPrompt, path });
    await expect(local.call(wireCall(request))).resolves.toMatchObject({ stopReason: 'stop' });
  });
});
