import Anthropic from '@anthropic-ai/sdk';
import { VERSION } from '@anthropic-ai/sdk/version';
import type { ReceivedItem, RenderedRequest } from '@palimpsest/context';
import { isRecord } from '../json';
import type { ProviderOptions } from '../openai-chat/provider';
import type { ModelProvider, RenderInput, WireAnswer, WireCall } from '../port';
import { itemsOfResponse } from '../response-items';
import { carry, DEFAULT_TIMEOUT_MS, describeError, ErrorInStream, type Fetch, parseEvent } from '../wire';
import { MessageCollector } from './collect';
import { errorOfMessages } from './failures';
import { renderMessages } from './render';

const ANTHROPIC = 'https://api.anthropic.com';

/** The Messages API. */
export class AnthropicProvider implements ModelProvider {
  readonly name: ModelProvider['name'];
  readonly baseUrl: string;
  readonly sdk = `@anthropic-ai/sdk ${VERSION}`;
  private readonly client: Anthropic;
  private readonly wire: { timeoutMs: number; fetch: Fetch };

  constructor(options: ProviderOptions, name: ModelProvider['name'] = 'anthropic') {
    this.name = name;
    this.baseUrl = (options.baseUrl ?? ANTHROPIC).replace(/\/+$/, '');
    this.wire = { timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS, fetch: options.fetch ?? fetch };
    this.client = new Anthropic({ apiKey: options.apiKey, baseURL: this.baseUrl, maxRetries: 0, logLevel: 'off' });
  }

  render(input: RenderInput): RenderedRequest {
    return renderMessages(input, this.name);
  }

  itemsOf(response: unknown, nodeId: string, revision: number): readonly ReceivedItem[] {
    return itemsOfResponse(response, nodeId, revision);
  }

  async call(call: WireCall): Promise<WireAnswer> {
    const collector = new MessageCollector(call.onText ?? (() => undefined));
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
        const event = parseEvent(data);
        if (!isRecord(event)) return false;
        if (event['type'] === 'error') throw new ErrorInStream(describeError(event['error']));
        collector.add(event);
        return event['type'] === 'message_stop';
      },
      errorOf: errorOfMessages,
      assertWhole: () => collector.assertWhole(),
      partial: () => collector.partial(),
    });
    return collector.answer();
  }
}
