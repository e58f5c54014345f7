import type { ModelChoice } from '@palimpsest/assistant';
import type { Config } from '@palimpsest/platform';
import {
  AnthropicProvider,
  type ModelProvider,
  type ModelRegistry,
  OpenAiProvider,
  type SimulatedModel,
  SimulatedProvider,
  startSimulatedModel,
} from '@palimpsest/providers';

export interface Providers {
  readonly byName: ReadonlyMap<string, ModelProvider>;
  readonly models: ModelRegistry;
  readonly defaultModel: Pick<ModelChoice, 'provider' | 'name'>;
  close(): Promise<void>;
}

/** What an assistant that names no model gets, by the keys at hand. */
const defaults = {
  anthropic: { provider: 'anthropic', name: 'claude-sonnet-4-5' },
  openai: { provider: 'openai', name: 'gpt-4.1' },
  simulated: { provider: 'simulated', name: 'simulated' },
} as const satisfies Record<string, Pick<ModelChoice, 'provider' | 'name'>>;

/**
 * The providers that this installation can call: those whose key is in the environment, and the simulated model, a server of this very
 * process, unless one that runs already is given: then it is not closed here. An assistant gets the simulated one only where it names it, or
 * where there is no key at all.
 */
export async function createProviders(
  { openai, anthropic, limits }: Config,
  models: ModelRegistry,
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
  return { byName, models, defaultModel: defaults[first], close: () => simulated.close() };
}
