import type { PathNode, RenderedRequest } from '@palimpsest/context';
import { answered, assistant, bodyOf, node, sourced, systemPrompt } from '../testing';
import { AnthropicProvider } from './anthropic-messages/provider';
import { compactsItself, holdsCompaction } from './own-compaction';
import { checkAnthropic } from './simulated/server/anthropic-rules';

const BETA = 'compact-2026-01-12';
const anthropic = new AnthropicProvider({ apiKey: 'key' });
const block = { type: 'compaction', content: 'The person likes "blue".', encrypted_content: 'Eq8', signature: null };
const response = { format: 'anthropic.messages', stop_reason: 'compaction', content: [block] };
const question = node('t-1', { provider: 'anthropic', question: sourced('I like blue') });
const said = answered(anthropic, question, {
  format: 'anthropic.messages',
  stop_reason: 'end_turn',
  content: [{ type: 'text', text: 'noted' }],
});
const asking = node('c-1', { provider: 'anthropic', question: sourced('Compact this conversation.') });
const compaction = answered(anthropic, node('c-1'), response);
const next = node('t-2', { provider: 'anthropic', question: sourced('and now?') });

const render = (path: readonly PathNode[], compact?: true): RenderedRequest =>
  anthropic.render({ assistant: assistant(), systemPrompt, path, ...(compact && { compact }) });
const parse = (request: RenderedRequest) => JSON.parse(bodyOf(request).toString('utf8')) as Record<string, unknown>;

describe('a request for a compaction in the provider’s own form', () => {
  it('is the request that a turn would make, with the edit behind it and the beta’s header', () => {
    const plain = render([said, asking]);
    const request = render([said, asking], true);
    expect(request.head).toEqual(plain.head);
    expect(request.messages).toEqual(plain.messages);
    expect(request.headers).toEqual({ ...plain.headers, 'anthropic-beta': BETA });
    expect(parse(request)).toEqual({
      ...parse(plain),
      context_management: {
        edits: [
          {
            type: 'compact_20260112',
            trigger: { type: 'input_tokens', value: 50_000 },
            pause_after_compaction: true,
          },
        ],
      },
    });
    expect(() => checkAnthropic(parse(request), BETA)).not.toThrow();
    expect(() => checkAnthropic(parse(request))).toThrow('context_management');
  });

  it('says what its assistant says of context_management once, in its own words', () => {
    const own = assistant({ params: { context_management: { edits: [] } } });
    const request = anthropic.render({ assistant: own, systemPrompt, path: [asking], compact: true });
    expect(
      bodyOf(request)
        .toString('utf8')
        .match(/"context_management"/g),
    ).toHaveLength(1);
  });
});

describe('a path that begins with one', () => {
  it('begins with its block as it came, as a summary, with the beta’s header', () => {
    const request = render([compaction, next]);
    expect(parse(request)['messages']).toEqual([
      { role: 'assistant', content: [block] },
      { role: 'user', content: [{ type: 'text', text: 'and now?' }] },
    ]);
    expect(request.headers).toMatchObject({ 'anthropic-beta': BETA });
    const [first] = request.messages;
    expect(first?.filter(({ kind }) => kind !== 'frame').map(({ kind, source }) => [kind, source?.pointer])).toEqual([
      ['summary', '/response/content/0/content'],
      ['summary', '/response/content/0/encrypted_content'],
    ]);
    expect(() => checkAnthropic(parse(request), BETA)).not.toThrow();
    expect(() => checkAnthropic(parse(request))).toThrow('compaction');
  });
});

it('is there where the block has content, and made by the models of one provider alone', () => {
  expect(holdsCompaction(response)).toBe(true);
  expect(holdsCompaction({ ...response, content: [{ ...block, content: null }] })).toBe(false);
  expect(holdsCompaction({ ...response, content: [{ type: 'text', text: 'x' }] })).toBe(false);
  expect(compactsItself({ provider: 'anthropic', name: 'claude' })).toBe(true);
  expect(compactsItself({ provider: 'simulated', name: 'simulated-anthropic-8k' })).toBe(true);
  expect(compactsItself({ provider: 'simulated', name: 'simulated' })).toBe(false);
  expect(compactsItself({ provider: 'openai', name: 'gpt' })).toBe(false);
});
