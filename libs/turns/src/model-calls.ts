import type { ToolDefinition } from '@palimpsest/assistant';
import type { ActiveConversation, Answer, ConversationCommand, NodeId } from '@palimpsest/conversation';
import { type ModelProvider, ProviderFailure, type WireAnswer } from '@palimpsest/providers';
import type { ReceivedItem } from '@palimpsest/context';
import type { RequestBody } from './assembly';
import type { Assistants } from './assistants';
import type { BytesInFlight } from './bytes-in-flight';
import type { Carry, TurnWriter } from './carry';
import type { EngineEvents } from './engine-events';
import type { TurnFeed } from './turn-feed';

export interface RetryLimits {
  /** Attempts on the wire of one call by one carrier. */
  readonly maxAttempts: number;
  /** Milliseconds before the second attempt where the provider gave no hint; doubled with each. */
  readonly firstPauseMs: number;
  /** A longer hint than this is not waited for. */
  readonly maxPauseMs: number;
}

export interface ModelCallsOptions {
  readonly assistants: Assistants;
  readonly providerOf: (name: string) => ModelProvider;
  readonly feed: TurnFeed;
  readonly retries: RetryLimits;
  readonly bytes: BytesInFlight;
  /** One attempt on the wire, from the first byte to the last. Milliseconds. */
  readonly timeoutMs: number;
  readonly events: EngineEvents;
  /** The exact bytes of a stored request, for whoever takes a turn over. */
  readonly bodyOf: (conversationId: string, nodeId: NodeId, requestedRevision: bigint) => Promise<RequestBody>;
  /** Keyed digest of a raw argument string. */
  readonly argumentsDigest: (conversationId: string, raw: string) => Promise<string>;
  readonly validate: (
    tool: ToolDefinition,
    raw: string,
  ) => { readonly ok: true } | { readonly ok: false; readonly text: string };
}

/** Calls models for nodes whose request is stored, and records what came back. */
export class ModelCalls {
  constructor(private readonly options: ModelCallsOptions) {}

  async run(
    carry: Carry,
    nodeId: NodeId,
    known: RequestBody | undefined,
    state: ActiveConversation,
    writer: TurnWriter,
  ): Promise<void> {
    const requestedAt = state.nodes.get(nodeId)?.requestedAt;
    if (requestedAt === undefined) throw new Error(`Node ${nodeId} was requested, and the state does not know it.`);
    const { conversationId } = carry.conversation;
    const body = known ?? (await this.options.bodyOf(conversationId, nodeId, BigInt(requestedAt)));
    for (let attempt = 1; ; attempt += 1) {
      this.options.feed.snapshot(conversationId, nodeId, '');
      const outcome = await this.options.bytes.hold(body.bytes.length, () => this.attempt(carry, nodeId, body));
      const failure = outcome instanceof ProviderFailure ? outcome : undefined;
      this.options.events.attempt(carry.turnId, nodeId, body.provider, failure?.reason ?? 'succeeded');
      // Cut short since the turn ended, was taken over or let go: whoever carries it now asks again.
      if (failure && carry.abort.signal.aborted) return;
      const pause = failure && this.pauseBefore(attempt + 1, failure, carry);
      if (failure && pause !== undefined) {
        if (!(await this.recordAttempt(carry, nodeId, failure, writer))) return;
        await sleep(pause, carry.abort.signal);
        continue;
      }
      const answer =
        outcome instanceof ProviderFailure
          ? failedAnswer(outcome)
          : await this.answered(carry, nodeId, body, outcome, state);
      const command: ConversationCommand = {
        type: 'RecordAnswer',
        carrier: carry.carrier,
        nodeId,
        answer,
        bounds: writer.bounds(),
      };
      const result = await writer.write(carry.conversation, command, carry.context, { persist: 'until-stored' });
      if (!result.ok) this.options.events.answerDropped(carry.turnId, nodeId);
      return;
    }
  }

  private async attempt(carry: Carry, nodeId: NodeId, body: RequestBody): Promise<WireAnswer | ProviderFailure> {
    const timeout = AbortSignal.timeout(this.options.timeoutMs);
    try {
      return await this.options.providerOf(body.provider).call({
        body: body.bytes,
        sha256: body.sha256,
        path: body.path,
        headers: body.headers,
        signal: AbortSignal.any([carry.abort.signal, timeout]),
        onText: (delta) => this.options.feed.text(carry.conversation.conversationId, nodeId, delta),
      });
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      if (!timeout.aborted || carry.abort.signal.aborted) return error;
      const { partial } = error.more;
      const detail = `The model gave no whole answer within ${this.options.timeoutMs} ms.`;
      return new ProviderFailure('timeout', detail, { retryable: true, ...(partial === undefined ? {} : { partial }) });
    }
  }

  /** Milliseconds; undefined where there is no further attempt. */
  private pauseBefore(attempt: number, failure: ProviderFailure, carry: Carry): number | undefined {
    const { maxAttempts, firstPauseMs, maxPauseMs } = this.options.retries;
    if (!failure.more.retryable || attempt > maxAttempts || carry.abort.signal.aborted) return undefined;
    const pause = failure.more.retryAfterMs ?? firstPauseMs * 2 ** (attempt - 2);
    return pause <= maxPauseMs ? pause : undefined;
  }

  /** False where the carry is over. */
  private async recordAttempt(
    carry: Carry,
    nodeId: NodeId,
    failure: ProviderFailure,
    writer: TurnWriter,
  ): Promise<boolean> {
    const { retryAfterMs, partial } = failure.more;
    const command: ConversationCommand = {
      type: 'RecordAttemptFailure',
      carrier: carry.carrier,
      nodeId,
      reason: failure.reason,
      detail: failure.message,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(partial === undefined ? {} : { partial }),
    };
    const result = await writer.write(carry.conversation, command, carry.context, { persist: 'until-stored' });
    return result.ok;
  }

  private async answered(
    carry: Carry,
    nodeId: NodeId,
    body: RequestBody,
    wire: WireAnswer,
    state: ActiveConversation,
  ): Promise<Answer> {
    const { conversationId, assistantId } = carry.conversation;
    const version = state.turns.get(carry.turnId)?.start?.assistantVersion ?? carry.conversation.assistantVersion;
    const assistant = await this.options.assistants.find(assistantId, version);
    const tools = new Map(assistant?.definition.tools.map((tool) => [tool.name, tool]));
    const items = this.options.providerOf(body.provider).itemsOf(wire.response, nodeId, 0);
    const toolCalls = [];
    for (const item of items) {
      if (item.type !== 'tool_call') continue;
      const argumentsDigest = await this.options.argumentsDigest(conversationId, item.arguments.text);
      toolCalls.push({ argumentsDigest, ...this.listing(item, tools.get(item.name)) });
    }
    return { status: 'succeeded', toolCalls, usage: wire.usage, stopReason: wire.stopReason, response: wire.response };
  }

  /** A call that can't run is marked so, with words that tell the model why. */
  private listing(item: Extract<ReceivedItem, { type: 'tool_call' }>, tool: ToolDefinition | undefined) {
    if (!tool)
      return {
        tool: null,
        effect: 'read',
        approval: false,
        invalid: 'unknown_tool',
        invalidText: `There is no tool named ${JSON.stringify(item.name)}.`,
      } as const;
    const { name, effect, approval } = tool;
    const valid = this.options.validate(tool, item.arguments.text);
    if (valid.ok) return { tool: name, effect, approval };
    return { tool: name, effect, approval, invalid: 'invalid_arguments', invalidText: valid.text } as const;
  }
}

function failedAnswer(failure: ProviderFailure): Answer {
  const { partial } = failure.more;
  return {
    status: 'failed',
    reason: failure.reason,
    detail: failure.message,
    ...(partial === undefined ? {} : { partial }),
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
