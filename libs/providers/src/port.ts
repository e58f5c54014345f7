import type { AssistantDefinition } from '@palimpsest/assistant';
import type { PathNode, ReceivedItem, RenderedRequest, SourcedText } from '@palimpsest/context';
import type { Usage } from '@palimpsest/conversation';

/** The failure classes of a provider. */
export type FailureClass =
  | 'context_overflow'
  | 'rate_limited'
  | 'overloaded'
  | 'timeout'
  | 'auth'
  | 'invalid_request'
  | 'cancelled'
  | 'provider_error';

export interface RenderInput {
  readonly assistant: AssistantDefinition;
  /** Where the system prompt stands: the assistant's event. */
  readonly systemPrompt: SourcedText;
  /** Root first. The last one is the node whose request this is; it has no received message. */
  readonly path: readonly PathNode[];
  /** The provider is to compact what is said, in its own form, and to answer with that alone. Only for a model that `compactsItself`. */
  readonly compact?: true;
  /** The form that the answer is to have: each provider holds its model to it in its own way. */
  readonly answer?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
}

/** One call on the wire, with the exact bytes. */
export interface WireCall {
  readonly body: Uint8Array;
  readonly sha256: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Text of the answer as it arrives. */
  readonly onText?: (delta: string) => void;
}

export interface WireAnswer {
  /** The response, put together from the stream: every block, field and raw argument string, without the framing. JSON. */
  readonly response: unknown;
  readonly usage: Usage;
  /** The provider's own word. */
  readonly stopReason: string;
}

export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';
  constructor(
    readonly reason: FailureClass,
    detail: string,
    readonly more: {
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
      readonly status?: number;
      readonly partial?: string;
    },
  ) {
    super(detail);
  }
}

/**
 * A model provider. `render` and `itemsOf` are pure and deterministic; `call` is the only one that talks to anybody. One call is one
 * attempt on the wire: retries are the caller's, so that the log knows of each.
 */
export interface ModelProvider {
  readonly name: 'openai' | 'anthropic' | 'simulated';
  /** Base URL of the calls, for the record. No secret in it. */
  readonly baseUrl: string;
  /** Name and version of the SDK, for the record. */
  readonly sdk: string;
  render(input: RenderInput): RenderedRequest;
  /** The items of a response that this provider gave, in its order; `revision` is the event that holds `response` at pointer `/response`. */
  itemsOf(response: unknown, nodeId: string, revision: number): readonly ReceivedItem[];
  /** Rejects with `ProviderFailure`. Checks the digest of the bytes as they leave. */
  call(call: WireCall): Promise<WireAnswer>;
}
