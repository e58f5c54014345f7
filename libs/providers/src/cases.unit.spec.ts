import type { PathNode } from '@palimpsest/context';
import { answered, assistant, bodyOf, node, sourced, systemPrompt } from '../testing';
import { AnthropicProvider } from './anthropic-messages/provider';
import { OpenAiProvider } from './openai-chat/provider';
import type { ModelProvider } from './port';
import { textOfItems } from './response-items';

const openai = new OpenAiProvider({ apiKey: 'key' });
const anthropic = new AnthropicProvider({ apiKey: 'key' });

const RAW = '{"n":12345678901234567890,"10":1,"2":2}';

function chat(message: object, finish_reason = 'stop'): object {
  return { format: 'openai.chat', choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }] };
}

function chatCall(id: string, raw = '{}'): object {
  return { index: 0, id, type: 'function', function: { name: 'sql', arguments: raw } };
}

function message(...content: object[]): object {
  return { format: 'anthropic.messages', role: 'assistant', content, stop_reason: 'end_turn' };
}

function toolUse(id: string, raw = '{}'): object {
  return { type: 'tool_use', id, name: 'sql', input: {}, input_json: raw };
}

function result(toolCallId: string, text: string, isError = false): PathNode['results'][number] {
  return { toolCallId, result: sourced(text), isError };
}

function render(provider: ModelProvider, ...path: PathNode[]): { messages: unknown[]; text: string; unpaired: number } {
  const request = provider.render({ assistant: assistant(), systemPrompt, path });
  const text = bodyOf(request).toString('utf8');
  const { messages } = JSON.parse(text) as { messages: unknown[] };
  return { messages: provider === openai ? messages.slice(1) : messages, text, unpaired: request.unpaired };
}

const asked = node('t1-1', { question: sourced('How much?') });

describe('T01: two calls, one result, then the next question', () => {
  const next = node('t2-1', { results: [result('t1-1-0', 'twelve')], question: sourced('And?') });

  it('OpenAI: the call without its result is left out and counted', () => {
    const called = answered(openai, asked, chat({ content: null, tool_calls: [chatCall('a'), chatCall('b')] }));
    expect(render(openai, called, next)).toMatchObject({
      unpaired: 1,
      messages: [
        { role: 'user', content: 'How much?' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'a', function: { name: 'sql', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'a', content: 'twelve' },
        { role: 'user', content: 'And?' },
      ],
    });
  });

  it('Anthropic: so it is, and result and question are one message', () => {
    const called = answered(anthropic, asked, message(toolUse('toolu_a'), toolUse('toolu_b')));
    expect(render(anthropic, called, next)).toMatchObject({
      unpaired: 1,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'How much?' }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_a' }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_a' },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
    });
  });

  it.each([openai, anthropic])('no result at all: the message that only called is left out whole', (provider) => {
    const response =
      provider === openai ? chat({ content: '', tool_calls: [chatCall('a')] }) : message(toolUse('toolu_a'));
    const called = answered(provider, asked, response);
    const { messages, unpaired } = render(provider, called, node('t2-1', { question: sourced('And?') }));
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'user' }]);
    expect(unpaired).toBe(1);
  });
});

describe('T12: the tools of the provider itself', () => {
  const use = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {}, input_json: '{"query":"x"}' };
  const found = {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: 'u' }],
  };
  const text = {
    type: 'text',
    text: 'Found.',
    citations: [{ type: 'web_search_result_location', encrypted_index: 'Rm9v' }],
  };

  it('need no result of ours, and go back unchanged', () => {
    const searched = answered(anthropic, asked, message(use, found, text));
    const { messages, unpaired } = render(anthropic, searched, node('t2-1', { question: sourced('And?') }));
    const { input_json: _raw, ...sent } = use;
    expect(messages[1]).toEqual({ role: 'assistant', content: [{ ...sent, input: { query: 'x' } }, found, text] });
    expect(unpaired).toBe(0);
  });

  it.each([
    ['a call without its result', [use, text]],
    ['a result without its call', [found, text]],
  ])('by the same rule %s is left out and counted', (_name, blocks) => {
    const searched = answered(anthropic, asked, message(...blocks));
    const { messages, unpaired } = render(anthropic, searched, node('t2-1', { question: sourced('And?') }));
    expect(messages[1]).toEqual({ role: 'assistant', content: [text] });
    expect(unpaired).toBe(1);
  });

  it('are left out for another provider, which takes the text', () => {
    const searched = answered(anthropic, asked, message(use, found, text));
    const { messages, unpaired } = render(openai, searched, node('t2-1', { question: sourced('And?') }));
    expect(messages[1]).toEqual({ role: 'assistant', content: 'Found.' });
    expect(unpaired).toBe(0);
  });
});

describe('C11: after a regeneration', () => {
  it.each([openai, anthropic])('the question is there once', (provider) => {
    const first = answered(
      provider,
      asked,
      provider === openai ? chat({ content: 'X' }) : message({ type: 'text', text: 'X' }),
    );
    const again = node('t2-1', { question: sourced('How much?') });
    expect(render(provider, again).text.match(/How much\?/g)).toHaveLength(1);
    expect(render(provider, again).text).not.toContain('"X"');
    expect(render(provider, first, node('t3-1', { question: sourced('And?') })).text.match(/How much\?/g)).toHaveLength(
      1,
    );
  });
});

describe('reasoning', () => {
  const thinking = { type: 'thinking', thinking: 'Hm\n"m"', signature: 'c2lnbmF0dXJl' };
  const redacted = { type: 'redacted_thinking', data: 'Rm9v' };
  const next = node('t1-2', { results: [result('t1-1-0', 'twelve')] });

  it('of Anthropic goes back unchanged, in its place', () => {
    const called = answered(anthropic, asked, message(thinking, redacted, toolUse('toolu_a', RAW)));
    expect(render(anthropic, called, next).messages[1]).toMatchObject({
      content: [thinking, redacted, { id: 'toolu_a' }],
    });
  });

  it('of another provider, or of the same one in another format, is left out', () => {
    const called = answered(anthropic, asked, message(thinking, redacted, toolUse('toolu_a')));
    expect(render(openai, called, next).text).not.toContain('Hm');
    const elsewhere = { ...answered(anthropic, asked, message(thinking, toolUse('toolu_a'))), provider: 'simulated' };
    expect(render(anthropic, elsewhere, next).text).not.toContain('Hm');
  });

  it('alone is no answer: the message is left out', () => {
    const thought = answered(anthropic, asked, message(thinking));
    expect(render(anthropic, thought, node('t2-1', { question: sourced('And?') })).messages).toHaveLength(2);
  });

  it('of a server that speaks the chat format goes back with its signed calls', () => {
    const signed = { ...chatCall('a'), extra_content: { google: { thought_signature: 'c2ln' } } };
    const called = answered(openai, asked, chat({ content: null, reasoning_content: 'Hm', tool_calls: [signed] }));
    expect(render(openai, called, next).messages[1]).toEqual({
      role: 'assistant',
      content: null,
      reasoning_content: 'Hm',
      tool_calls: [
        {
          id: 'a',
          type: 'function',
          function: { name: 'sql', arguments: '{}' },
          extra_content: { google: { thought_signature: 'c2ln' } },
        },
      ],
    });
  });
});

describe('the arguments of a call', () => {
  const next = node('t1-2', { results: [result('t1-1-0', 'twelve', true)] });

  it('are the raw text in both formats, whoever made the call', () => {
    const byOpenAi = answered(openai, asked, chat({ content: null, tool_calls: [chatCall('call:1', RAW)] }));
    const byAnthropic = answered(anthropic, asked, message(toolUse('toolu_a', RAW)));
    for (const called of [byOpenAi, byAnthropic]) {
      expect(render(openai, called, next).text).toContain(`"arguments":${JSON.stringify(RAW)}`);
      expect(render(anthropic, called, next).text).toContain(`"input":${RAW}`);
    }
  });

  it.each(['', ' '])('that are blank (%j) are an empty object', (raw) => {
    const called = answered(anthropic, asked, message(toolUse('toolu_a', raw)));
    expect(render(anthropic, called, next).text).toContain('"input":{}');
    expect(render(openai, called, next).text).toContain('"arguments":"{}"');
  });

  it('that are no object are shown to Anthropic within one', () => {
    const called = answered(anthropic, asked, message(toolUse('toolu_a', '{"broken')));
    expect(render(anthropic, called, next).messages[1]).toMatchObject({
      content: [{ input: { invalid_arguments: '{"broken' } }],
    });
    expect(render(anthropic, called, next).messages[2]).toMatchObject({ content: [{ is_error: true }] });
  });

  it('belong to an id of ours where the provider repeats its own, or another provider made the call', () => {
    const first = answered(openai, asked, chat({ content: null, tool_calls: [chatCall('0')] }));
    const second = answered(openai, next, chat({ content: null, tool_calls: [chatCall('0')] }));
    const third = node('t1-3', { results: [result('t1-2-0', 'more')] });
    const ids = render(openai, first, second, third).text.match(/"(?:tool_call_)?id":"[^"]+"/g);
    expect(ids).toEqual(['"id":"0"', '"tool_call_id":"0"', '"id":"20FLweUb5"', '"tool_call_id":"20FLweUb5"']);
    expect(render(anthropic, first, next).text).toMatch(/"tool_use","id":"([A-Za-z0-9]{9})".*"tool_use_id":"\1"/);
  });
});

describe('a node that failed', () => {
  it.each([openai, anthropic])('keeps its results in the next request, and nothing of an answer', (provider) => {
    const response =
      provider === openai ? chat({ content: null, tool_calls: [chatCall('a')] }) : message(toolUse('toolu_a'));
    const called = answered(provider, asked, response);
    const failed = node('t1-2', { status: 'failed', results: [result('t1-1-0', 'twelve')] });
    const { text, unpaired } = render(provider, called, failed, node('t2-1', { question: sourced('And?') }));
    expect(text).toContain('twelve');
    expect(unpaired).toBe(0);
  });
});

it('an answer is read as its texts: side by side one, apart as paragraphs', () => {
  const texts = message({ type: 'text', text: 'a' }, { type: 'text', text: 'b' }, toolUse('x'), {
    type: 'text',
    text: 'c',
  });
  expect(textOfItems(anthropic.itemsOf(texts, 'n', 1))).toBe('ab\n\nc');
});
