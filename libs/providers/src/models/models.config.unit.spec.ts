import { readModels } from './models.config';
import { createModelRegistry } from './registry';

const read = (...models: unknown[]) => readModels(JSON.stringify({ models }));
const local = { provider: 'openai', name: 'qwen3', contextWindow: 40_000, outputReserve: 8_000 };

describe('the registry of models', () => {
  const registry = createModelRegistry();

  it('knows a snapshot by the model that it was taken of', () => {
    expect(registry.find('anthropic', 'claude-haiku-4-5-20251001')).toMatchObject({
      ...{ name: 'claude-haiku-4-5-20251001', contextWindow: 200_000, inputCap: 168_000, known: true },
      price: { currency: 'USD', input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5 },
    });
    expect(registry.find('openai', 'gpt-4.1-2025-04-14')).toMatchObject({ tokenizer: 'o200k_base', known: true });
    expect(registry.find('openai', 'gpt-6.2-sol').inputCap).toBe(922_000);
    expect(registry.find('simulated', 'simulated-anthropic')).toMatchObject({ inputCap: 128_000, outputReserve: 4096 });
  });

  it('has careful defaults for a name that it does not have', () => {
    expect(registry.find('openai', 'llama-next')).toEqual({
      ...{ provider: 'openai', name: 'llama-next', contextWindow: 32_768, outputReserve: 4096, inputCap: 28_672 },
      ...{ price: null, cache: null, tokenizer: 'estimate', known: false },
    });
    // The same name elsewhere is another model.
    expect(registry.find('openai', 'claude-haiku-4-5').known).toBe(false);
  });

  it('never caps a request beyond what the window leaves beside the answer', () => {
    const { contextWindow, outputReserve, inputCap } = registry.find('anthropic', 'claude-opus-5-5');
    expect(inputCap).toBe(contextWindow - outputReserve);
  });
});

describe('the models file', () => {
  it('adds a model, and what it leaves out is the default', () => {
    const facts = read({ ...local, price: { currency: 'KRW', input: 100, output: 400 } }).find('openai', 'qwen3');
    expect(facts).toEqual({
      ...{ ...local, inputCap: 32_000, cache: null, tokenizer: 'estimate', known: true },
      price: { currency: 'KRW', input: 100, cachedInput: 100, cacheWrite: 100, output: 400 },
    });
  });

  it('overrides what it names of a model that is built in, and leaves the rest', () => {
    const registry = read({ provider: 'openai', name: 'gpt-6.2-sol', price: null });
    expect(registry.find('openai', 'gpt-6.2-sol')).toMatchObject({ price: null, inputCap: 922_000, known: true });
    const small = read({ provider: 'openai', name: 'gpt-6.2-sol', contextWindow: 64_000 });
    expect(small.find('openai', 'gpt-6.2-sol')).toMatchObject({ contextWindow: 64_000, inputCap: 32_000 });
    expect(small.find('openai', 'gpt-6-sol').contextWindow).toBe(1_050_000);
  });

  it.each([
    ['{', /^The models file is not JSON: .*\.$/],
    ['[]', /^The models file: .*\.$/],
    [[{ ...local, provider: 'meta' }], 'models.0.provider: must be "openai", "anthropic" or "simulated".'],
    [[{ ...local, contextWindow: 0 }], 'models.0.contextWindow: must be at least 1.'],
    [[{ ...local, contextWindow: '40k' }], 'models.0.contextWindow: must be a whole number of tokens.'],
    [[{ ...local, tokenizer: 'bpe' }], 'models.0.tokenizer: must be one of o200k_base, cl100k_base, estimate.'],
    [
      [{ ...local, price: { currency: 'won', input: 1, output: 1 } }],
      'models.0.price.currency: must be three capitals, such as USD.',
    ],
    [[{ ...local, price: { currency: 'KRW', input: -1, output: 1 } }], 'models.0.price.input: must not be negative.'],
    [
      [{ ...local, price: { currency: 'KRW', input: 1 } }],
      'models.0.price.output: must be a number: the price of a million tokens.',
    ],
    [[{ ...local, window: 1 }], /^models\.0: .*"window".*\.$/],
    [[local, local], /^The model "qwen3" of openai stands there twice\.$/],
    [
      [{ ...local, outputReserve: 40_000 }],
      'The model "qwen3" of openai keeps 40000 tokens for its answer, and its window has 40000: nothing is left for a request.',
    ],
    [
      [{ ...local, inputCap: 32_001 }],
      'The model "qwen3" of openai has an inputCap of 32001, and 32000 tokens of its window are left beside its answer.',
    ],
  ])('is refused with a sentence a fault: %j', (models, sentence) => {
    const text = typeof models === 'string' ? models : JSON.stringify({ models });
    expect(() => readModels(text)).toThrow(sentence);
  });
});
