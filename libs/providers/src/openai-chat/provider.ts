import OpenAI from 'openai';
import { VERSION } from 'openai/version';
import type { ReceivedItem, RenderedRequest } from '@palimpsest/context';
import { isRecord } from '../json';
import type { ModelProvider, RenderInput, WireAnswer, WireCall } from '../port';
import { itemsOfResponse } from '../response-items';
import { carry, DEFAULT_TIMEOUT_MS, describeError, ErrorInStream, type Fetch, parseEvent } from '../wire';
import { ChatCollector } from './collect';
import { errorOfChat } from './failures';
import { renderChat } from './render';

export interface ProviderOptions {
  readonly apiKey: string;
  readonly baseUrl?: string | undefined;
  /** Milliseconds of silence after which a call is given up. Default 300 s. */
  readonly timeoutMs?: number | undefined;
  readonly fetch?: Fetch | undefined;
}

const OPENAI = 'https://api.openai.com/v1';

/** Chat completions: OpenAI, and by base URL everything that speaks its API (Ollama, vLLM, ...). */
export class OpenAiProvider implements ModelProvider {
  readonly name: ModelProvider['name'];
  readonly baseUrl: string;
  readonly sdk = `openai ${VERSION}`;
  private readonly client: OpenAI;
  private readonly wire: { timeoutMs: number; fetch: Fetch };

  constructor(options: ProviderOptions, name: ModelProvider['name'] = 'openai') {
    this.name = name;
    this.baseUrl = (options.baseUrl ?? OPENAI).replace(/\/+$/, '');
    this.wire = { timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS, fetch: options.fetch ?? fetch };
    this.client = new OpenAI({ apiKey: options.apiKey, baseURL: this.baseUrl, maxRetries: 0, logLevel: 'off' });
  }

  render(input: RenderInput): RenderedRequest {
    const own = /^https:\/\/[^/]*\.?(openai\.com|azure\.com)\//.test(`${this.baseUrl}/`);
    return renderChat(input, { provider: this.name, maxTokensField: own ? 'max_completion_tokens' : 'max_tokens' });
  }

  itemsOf(response: unknown, nodeId: string, revision: number): readonly ReceivedItem[] {
    return itemsOfResponse(response, nodeId, revision);
  }

  async call(call: WireCall): Promise<WireAnswer> {
    const collector = new ChatCollector(call.onText ?? (() => undefined));
    await carry(call, this.wire, {
      post: (fetch, signal) =>
        this.client
          .withOptions({ fetch, timeout: this.wire.timeoutMs + 1_000 })
          .post(call.path, {
            body: call.body,
            headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...call.headers },
            signal,
          })
          .asResponse(),
      onEvent: ({ data }) => {
        if (data.trim() === '[DONE]') {
          collector.end();
          return true;
        }
        const chunk = parseEvent(data);
        if (!isRecord(chunk)) return false;
        if (chunk['error'] !== undefined && chunk['error'] !== null)
          throw new ErrorInStream(describeError(chunk['error']));
        collector.add(chunk);
        return false;
      },
      errorOf: errorOfChat,
      assertWhole: () => collector.assertWhole(),
      partial: () => collector.partial(),
    });
    return collector.answer();
  }
}
