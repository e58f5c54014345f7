import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { sha256Of } from '../testing';
import { AnthropicProvider } from './anthropic-messages/provider';
import { OpenAiProvider } from './openai-chat/provider';
import type { ModelProvider, ProviderFailure, WireAnswer } from './port';

const body = Buffer.from('{}');

/** Plays a recorded stream to the real SDK, in parts of these sizes. */
async function play(file: string, sizes: readonly number[] = [], heard: string[] = []): Promise<WireAnswer> {
  const bytes = readFileSync(join(__dirname, '../fixtures', file));
  const fetch = async (): Promise<Response> =>
    new Response(inParts(bytes, sizes), { headers: { 'content-type': 'text/event-stream' } });
  const options = { apiKey: 'key', fetch };
  const provider: ModelProvider = file.startsWith('chat')
    ? new OpenAiProvider(options)
    : new AnthropicProvider(options);
  const signal = new AbortController().signal;
  const onText = (delta: string): void => void heard.push(delta);
  return provider.call({ body, sha256: sha256Of(body), path: '/x', headers: {}, signal, onText });
}

function inParts(bytes: Buffer, sizes: readonly number[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      let at = 0;
      for (const size of sizes) controller.enqueue(bytes.subarray(at, (at += size)));
      if (at < bytes.length) controller.enqueue(bytes.subarray(at));
      controller.close();
    },
  });
}

async function items(file: string): Promise<unknown> {
  const { response } = await play(file);
  const provider = new OpenAiProvider({ apiKey: 'key' });
  return provider.itemsOf(response, 'n', 7);
}

function failureOf(file: string): Promise<ProviderFailure> {
  return play(file).then(
    () => Promise.reject(new Error('The call succeeded.')),
    (error: ProviderFailure) => error,
  );
}

const text = (value: string, pointer: string): object => ({
  text: value,
  source: { revision: 7, pointer: `/response/${pointer}` },
});

describe('a chat completion, put together from its stream', () => {
  it('keeps every field, the reasoning, and a large number digit for digit', async () => {
    const heard: string[] = [];
    const answer = await play('chat-reasoning.sse', [], heard);
    expect(answer).toEqual({
      response: {
        format: 'openai.chat',
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1780000000,
        model: 'm-1',
        system_fingerprint: 'fp_1',
        x_server: { seed: '12345678901234567890' },
        usage: { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 8 } },
        choices: [
          {
            index: 0,
            finish_reason: 'stop',
            message: {
              role: 'assistant',
              content: 'Twelve 👍',
              reasoning_content: 'Let me see.',
              reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'Let me see.', signature: 'c2ln' }],
              annotations: [{ type: 'url_citation', url: 'https://example.com/' }],
            },
          },
        ],
      },
      usage: { inputTokens: 9, cachedInputTokens: 8, outputTokens: 4 },
      stopReason: 'stop',
    });
    expect(heard.join('')).toBe('Twelve 👍');
    expect(await items('chat-reasoning.sse')).toEqual([
      { type: 'reasoning', text: text('Let me see.', 'choices/0/message/reasoning_content') },
      { type: 'assistant', text: text('Twelve 👍', 'choices/0/message/content') },
    ]);
  });

  it('tells parallel calls apart that share an index', async () => {
    const call = (index: number, id: string, raw: string): object => ({
      type: 'tool_call',
      toolCallId: `n-${index}`,
      providerCallId: id,
      name: 'sql',
      arguments: text(raw, `choices/0/message/tool_calls/${index}/function/arguments`),
    });
    expect(await items('chat-parallel-one-index.sse')).toEqual([call(0, 'a', '{"q":1}'), call(1, 'b', '{"q":2}')]);
  });

  it('takes a whole call and [DONE] for an end where the server names no finish_reason', async () => {
    expect(await items('chat-no-finish-reason.sse')).toMatchObject([{ type: 'tool_call', name: 'sql' }]);
  });

  it('takes a refusal for what the model said', async () => {
    expect(await items('chat-refusal.sse')).toEqual([
      { type: 'assistant', text: text('I will not.', 'choices/0/message/refusal') },
    ]);
  });

  it('D04: a call whose arguments were cut is a failure with the text so far, and no call', async () => {
    const { reason, more } = await failureOf('chat-cut-arguments.sse');
    expect({ reason, more }).toEqual({ reason: 'provider_error', more: { retryable: true, partial: 'Let me look.' } });
  });
});

describe('a message, put together from its stream', () => {
  it('keeps every block and field, known or not', async () => {
    const answer = await play('messages-thinking.sse');
    expect(answer).toEqual({
      response: {
        format: 'anthropic.messages',
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'c-1',
        stop_reason: 'end_turn',
        stop_sequence: null,
        context_management: { applied_edits: [] },
        usage: { input_tokens: 10, cache_creation_input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 20 },
        content: [
          { type: 'thinking', thinking: 'Hmm.', signature: 'c2ln' },
          { type: 'redacted_thinking', data: 'Rm9v' },
          { type: 'text', text: 'Yes.', citations: [{ type: 'char_location', cited_text: 'yes' }] },
          { type: 'hologram', depth: 3, light: 'so bright' },
        ],
      },
      usage: { inputTokens: 115, cachedInputTokens: 100, cacheWriteTokens: 5, outputTokens: 20 },
      stopReason: 'end_turn',
    });
    expect(await items('messages-thinking.sse')).toEqual([
      { type: 'reasoning', text: text('Hmm.', 'content/0/thinking') },
      { type: 'assistant', text: text('Yes.', 'content/2/text') },
    ]);
  });

  it('keeps the raw arguments of a call', async () => {
    expect(await items('messages-tool-input.sse')).toMatchObject([
      { type: 'assistant' },
      { toolCallId: 'n-0', arguments: text('{"n":12345678901234567890,"10":1,"2":2}', 'content/1/input_json') },
      { toolCallId: 'n-1', arguments: text('', 'content/2/input_json') },
    ]);
  });

  it('D04: a call that the token limit cut is no call, whole as its arguments may look', async () => {
    expect((await play('messages-max-tokens.sse')).stopReason).toBe('max_tokens');
    expect(await items('messages-max-tokens.sse')).toMatchObject([{ type: 'assistant' }]);
  });

  it('fails with the class of an error in mid-stream, and the text so far', async () => {
    const { reason, message, more } = await failureOf('messages-overloaded.sse');
    expect({ reason, message, more }).toEqual({
      reason: 'overloaded',
      message: 'Overloaded',
      more: { retryable: true, partial: 'Hel' },
    });
  });
});

it.each(['chat-reasoning.sse', 'chat-parallel-one-index.sse', 'messages-thinking.sse', 'messages-tool-input.sse'])(
  '%s gives one answer however the bytes arrive',
  async (file) => {
    const whole = await play(file);
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 80 });
    const same = async (parts: readonly number[]): Promise<void> => expect(await play(file, parts)).toEqual(whole);
    await fc.assert(fc.asyncProperty(sizes, same), { numRuns: 30 });
  },
);

it('a field named __proto__ reaches no other object', async () => {
  const chunk = '{"choices":[{"index":0,"delta":{"content":"x","__proto__":{"polluted":1}},"finish_reason":"stop"}]}';
  const fetch = async (): Promise<Response> => new Response(`data: ${chunk}\n\n`);
  const provider = new OpenAiProvider({ apiKey: 'key', fetch });
  const signal = new AbortController().signal;
  await provider.call({ body, sha256: sha256Of(body), path: '/x', headers: {}, signal });
  expect({}).not.toHaveProperty('polluted');
});
