import type { ModelChoice } from '@palimpsest/assistant';
import type { Config } from '@palimpsest/platform';
import {
  AnthropicProvider,
  type ModelProvider,
  OpenAiProvider,
  type SimulatedModel,
  SimulatedProvider,
  startSimulatedModel,
} from '@palimpsest/providers';

export interface Providers {
  readonly byName: ReadonlyMap<string, ModelProvider>;
  readonly defaultModel: ModelChoice;
  close(): Promise<void>;
}

const caps = { inputCap: 128_000, maxOutputTokens: 4096, params: {} };

/** What an assistant that names no model gets, by the keys at hand. */
const defaults = {
  anthropic: { provider: 'anthropic', name: 'claude-sonnet-4-5', ...caps },
  openai: { provider: 'openai', name: 'gpt-4.1', ...caps },
  simulated: { provider: 'simulated', name: 'simulated', ...caps },
} as const satisfies Record<string, ModelChoice>;

/**
 * The providers that this installation can call: those whose key is in the environment, and the simulated model, a server of this very
 * process, unless one that runs already is given: then it is not closed here. An assistant gets the simulated one only where it names it, or
 * where there is no key at all.
 */
export async function createProviders(
  { openai, anthropic, limits }: Config,
  given?: Pick<SimulatedModel, 'url'>,
): Promise<Providers> {
  const timeoutMs = limits.callIdleTimeoutMs;
  const simulated = given ? { url: given.url, close: async () => undefined } : await startSimulatedModel();
  const providers: ModelProvider[] = [new SimulatedProvider({ baseUrl: simulated.url, timeoutMs })];
  // A server of one's own behind a base URL (Ollama, vLLM) needs no key; the SDK wants some text all the same.
  if (openai.apiKey ?? openai.baseUrl)
    providers.push(new OpenAiProvider({ apiKey: openai.apiKey ?? 'none', baseUrl: openai.baseUrl, timeoutMs }));
  if (anthropic.apiKey)
    providers.push(new AnthropicProvider({ apiKey: anthropic.apiKey, baseUrl: anthropic.baseUrl, timeoutMs }));
  const byName = new Map(providers.map((provider): [string, ModelProvider] => [provider.name, provider]));
  const first = byName.has('anthropic') ? 'anthropic' : byName.has('openai') ? 'openai' : 'simulated';
  return { byName, defaultModel: defaults[first], close: () => simulated.close() };
}
