import { assistant, bodyOf, node, sourced } from '../testing';
import { AnthropicProvider } from './anthropic-messages/provider';
import { OpenAiProvider } from './openai-chat/provider';
import type { ModelProvider } from './port';
import { checkAnthropic } from './simulated/server/anthropic-rules';
import { checkOpenAi } from './simulated/server/openai-rules';

const schema = {
  type: 'object',
  properties: { said: { type: 'string' } },
  required: ['said'],
  additionalProperties: false,
};
const open = { ...schema, additionalProperties: true };
const nothing = { text: '', source: { revision: 0, pointer: '' } };
const PROVIDERS = [
  ['openai', new OpenAiProvider({ apiKey: 'key' }), checkOpenAi],
  ['anthropic', new AnthropicProvider({ apiKey: 'key' }), checkAnthropic],
] as const;

function bodyFor(provider: ModelProvider, form: object, params: Record<string, unknown> = {}) {
  const path = [node('n1', { question: sourced('What did they say?') })];
  const made = assistant({ name: 'm', params }, []);
  const answer = { name: 'said', schema: form as Record<string, unknown> };
  const request = provider.render({ assistant: made, systemPrompt: nothing, path, answer });
  const text = bodyOf(request).toString('utf8');
  expect(text.endsWith(']}')).toBe(true);
  return JSON.parse(text) as Record<string, unknown>;
}

describe.each(PROVIDERS)('the form of an answer, for %s', (name, provider, check) => {
  it('stands in its own field before the messages, and replaces what the assistant’s params say there', () => {
    const own = { response_format: { type: 'text' }, output_config: { effort: 'low', format: null }, seed: 1 };
    const body = bodyFor(provider, schema, own);
    check(body);
    if (name === 'openai')
      expect(body['response_format']).toEqual({ type: 'json_schema', json_schema: { name: 'said', schema, strict: true } }); // prettier-ignore
    else expect(body['output_config']).toEqual({ effort: 'low', format: { type: 'json_schema', schema } });
    expect(body['seed']).toBe(1);
    expect(body).not.toHaveProperty('system');
  });

  it('is refused by the simulated server where it is open, as by the provider', () => {
    expect(() => check(bodyFor(provider, open))).toThrow(/additionalProperties/);
    expect(() => check(bodyFor(provider, { ...schema, required: [] }))).toThrow(/required/);
  });
});
