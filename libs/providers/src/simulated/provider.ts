import type { ReceivedItem, RenderedRequest } from '@palimpsest/context';
import { AnthropicProvider } from '../anthropic-messages/provider';
import { OpenAiProvider, type ProviderOptions } from '../openai-chat/provider';
import type { ModelProvider, RenderInput, WireAnswer, WireCall } from '../port';
import { itemsOfResponse } from '../response-items';

const MESSAGES = '/v1/messages';

/** The simulated model behind the real SDKs. A model named `simulated-anthropic...` speaks Anthropic's format, all others OpenAI's. */
export class SimulatedProvider implements ModelProvider {
  readonly name = 'simulated';
  readonly baseUrl: string;
  readonly sdk: string;
  private readonly chat: OpenAiProvider;
  private readonly messages: AnthropicProvider;

  constructor(options: Omit<ProviderOptions, 'apiKey'> & { readonly baseUrl: string }) {
    const shared = { ...options, apiKey: 'simulated' };
    this.chat = new OpenAiProvider(shared, this.name);
    this.messages = new AnthropicProvider(shared, this.name);
    this.baseUrl = this.chat.baseUrl;
    this.sdk = `${this.chat.sdk}, ${this.messages.sdk}`;
  }

  render(input: RenderInput): RenderedRequest {
    if (input.assistant.model.name.startsWith('simulated-anthropic')) return this.messages.render(input);
    const request = this.chat.render(input);
    return { ...request, path: `/v1${request.path}` };
  }

  itemsOf(response: unknown, nodeId: string, revision: number): readonly ReceivedItem[] {
    return itemsOfResponse(response, nodeId, revision);
  }

  call(call: WireCall): Promise<WireAnswer> {
    return call.path === MESSAGES ? this.messages.call(call) : this.chat.call(call);
  }
}
